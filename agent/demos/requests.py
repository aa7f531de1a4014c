"""Turn a plain request into tool calls, for the demo model: fixed phrases, no language model.

Every phrase names the tools it needs and is skipped unless all are bound, so no request can call a tool that the
agent does not have. Phrases are tried in order, the more specific first; a phrase's reader may still decline.

    mail        "Send an e-mail to alice@example.com: Meeting moved to 10" · "email bob@example.com about Lunch
                saying See you at noon" · "write to a@example.com and b@example.com that we start at 9" ·
                "search my mail for rent" · "archive message m-3" · "archive the invoice mail" · "find the mail
                about rent and archive it" · "tell Bob and Eve the meeting moved to 11, and archive the old
                invitation" · "empty my mailbox"
    operations  "show the table customers" · "read notes" · "write 'hello' to notes/today.txt" · "create a file
                a.txt with hello" · "run sql: SELECT 1" · "DELETE FROM notes" · "delete note 7" · "remove the
                file reports/2024.csv" · "rotate the keys of billing" · "ask me which account to use" ·
                "Which account should I use? Ask me." · "tidy up the old reports"
    library     "find books about dragons" · "renew loan l-1" · "borrow b-1 for member m-9" ·
                "lend b-2 to m-9 for 14 days" · "delete member m-9"

Only requests that must find a mail before they archive it make further calls after the results, and only if all
results were successes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import re2

from agent.review.arguments.json_paths import is_unicode

MAX_REQUEST = 2_000
"""Characters; longer texts are not read as requests."""

MAX_RESULT = 500
"""The most characters of one result that a closing answer repeats."""


@dataclass(frozen=True)
class ModelCall:
    """A tool call the model wants to make."""

    tool: str
    args: Mapping[str, str | int]


@dataclass(frozen=True)
class CallResult:
    """The result of one call."""

    tool: str
    text: str
    ok: bool


@dataclass(frozen=True)
class Plan:
    """What to do about a request: make calls, or ask back. `archive` says which of the found mails to archive next."""

    calls: tuple[ModelCall, ...] = ()
    archive: Literal["none", "first", "all"] = "none"
    question: str = ""


@dataclass(frozen=True)
class Phrase:
    """A way to ask for something: the tools it needs, its pattern, and the reader of a match."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], Plan | None]


def plan_for(request: str, tools: Collection[str]) -> Plan | None:
    """Return the plan for `request` with these tools, or None if the request is not understood."""
    if len(request) > MAX_REQUEST or not is_unicode(request):
        return None
    text = _POLITE.sub("", request.strip())
    for phrase in _PHRASES:
        match = phrase.pattern.search(text) if all(tool in tools for tool in phrase.needs) else None
        plan = phrase.read(match) if match else None
        if plan:
            return plan
    return None


def follow_up(plan: Plan, results: Sequence[CallResult]) -> tuple[ModelCall, ...]:
    """Return the calls that follow a plan's first results; after any error, none."""
    if plan.archive == "none" or not all(result.ok for result in results):
        return ()
    found = _listed_ids("\n".join(result.text for result in results if result.tool == "search_mail"))
    return _archive(found if plan.archive == "all" else found[:1])


def closing(results: Sequence[CallResult], plan: Plan | None = None) -> str:
    """Return the turn's closing answer: what was done, what was not and why, and after any error a question."""
    done = [_report(result) for result in results if result.ok]
    not_done = [_report(result) for result in results if not result.ok]
    if not_done:
        not_done = ["Not done:", *not_done, "I have not tried again. What should I do now?"]
    elif plan and plan.archive != "none" and not any(result.tool == "archive_mail" for result in results):
        not_done = ["I found no mail to archive."]
    return "\n".join((["Done:", *done] if done else []) + not_done) or "Done."


def offer(tools: Mapping[str, str]) -> str:
    """Return what can be asked for with these tools (name → description), and how to write a call by hand."""
    known = [_offer_one(name, description) for name, description in tools.items()]
    first = "I am the demo model and understand only some requests."
    return "\n".join(
        [f"{first} With the tools here:" if known else f"{first} I have no tools here.", *known, _WRITE_OUT]
    )


def _offer_one(name: str, description: str) -> str:
    line = _one_line(f"{name}: {description}" if description.strip() else name)
    return f"{line} Try: {_EXAMPLES[name]}" if name in _EXAMPLES else line


def _report(result: CallResult) -> str:
    return f"{result.tool}: {_one_line(result.text) or '(no text)'}"


def _one_line(text: str) -> str:
    line = "; ".join(part.strip() for part in text.splitlines() if part.strip())
    return line if len(line) <= MAX_RESULT else line[: MAX_RESULT - 1] + "…"


# Reading mail requests.


def _email(match: re.Match[str]) -> Plan | None:
    head, body = _split_body(match.string)
    to = _addresses(head)
    about = _ABOUT.search(head)
    subject = _bare(about["subject"]) if about else ""
    if not to:
        return None
    if not subject and not body:
        return Plan(question=f"What should the e-mail to {' and '.join(to)} say?")
    return Plan(_emails(to, subject or _first_words(body), body or f"This is about {subject}."))


def _tell(match: re.Match[str]) -> Plan | None:
    names = _listed(match["who"])
    if any(name.lower() in _NOT_NAMES for name in names):
        return None
    to = [name if "@" in name else f"{name.lower()}@example.com" for name in names]
    what = _bare(match["what"])
    what = what[:1].upper() + what[1:]
    return Plan(_emails(to, _first_words(what), f"{what}."))


def _tell_and_archive(match: re.Match[str]) -> Plan | None:
    told = _tell(match)
    topic = _topic(match["old"], _MAIL_WORDS)
    if told is None:
        return None
    ids = _mail_ids(match["old"]) or ([_OLD_INVITATION] if "invitation" in topic.lower() else [])
    calls = (_call("search_mail", text=topic), *told.calls, *_archive(ids))
    return Plan(calls, archive="none" if ids else "first")


def _search_mail(match: re.Match[str]) -> Plan | None:
    if not re.search(r"\b(?:e?-?mails?|messages?|mailbox|inbox)\b", match["what"], re.I):
        return None
    return Plan((_call("search_mail", text=_topic(match["what"], _MAIL_WORDS)),))


def _search_and_archive(match: re.Match[str]) -> Plan:
    several = re.search(r"\b(?:all|them|those|every|mails|e-?mails|messages)\b", match["which"], re.I)
    search = _call("search_mail", text=_topic(match["what"], _MAIL_WORDS))
    return Plan((search,), archive="all" if several else "first")


def _archive_named(match: re.Match[str]) -> Plan:
    return Plan(_archive(_mail_ids(match.string)))


def _archive(ids: Sequence[str]) -> tuple[ModelCall, ...]:
    return tuple(_call("archive_mail", message_id=mail_id) for mail_id in ids)


def _emails(to: Sequence[str], subject: str, body: str) -> tuple[ModelCall, ...]:
    return tuple(_call("send_email", to=address, subject=subject, body=body) for address in to)


def _split_body(text: str) -> tuple[str, str]:
    """Split a request at an e-mail's text; return the words before it, and the text."""
    found = re.search(r"\s*:(?!\d)\s*|,?\s+(?:saying(?:\s+that)?|that\s+says|that)\s+", text, re.I)
    if not found:
        return text, ""
    return text[: found.start()], _unquoted(text[found.end() :])


def _addresses(text: str) -> list[str]:
    words = (word.strip("<>()'\".") for word in re.split(r"[\s,;]+", text))
    return [word for word in words if re.fullmatch(r"[^@]+@[^@]+", word)]


def _listed_ids(text: str) -> list[str]:
    """Return the ids a search lists. Only the start of a line counts, so a mail's text cannot name another mail."""
    return list(dict.fromkeys(re.findall(r"^m-\d+(?= \|)", text, re.M)))


def _mail_ids(text: str) -> list[str]:
    return list(dict.fromkeys(found.lower() for found in re.findall(r"\bm-\d+\b", text, re.I)))


# Reading operations and library requests.


def _one(tool: str, *fields: str) -> Callable[[re.Match[str]], Plan]:
    """Return a reader that makes one call from the pattern's groups, without quotes and closing punctuation."""

    def read(match: re.Match[str]) -> Plan:
        return Plan((_call(tool, **{field: _bare(match[field]) for field in fields}),))

    return read


def _sql(match: re.Match[str]) -> Plan:
    return Plan((_call("execute_sql", query=_unquoted(match["query"])),))


def _delete_row(match: re.Match[str]) -> Plan:
    noun = match["noun"].lower()
    table = noun if noun.endswith("s") else f"{noun}s"
    return Plan((_call("execute_sql", query=f"DELETE FROM {table} WHERE id = {match['id']}"),))


def _remove_files(match: re.Match[str]) -> Plan | None:
    paths = [_bare(part) for part in _listed(match["paths"])]
    named_as_file = match["file"] is not None
    if not all(path and (named_as_file or re.search(r"[./]", path)) for path in paths):
        return None
    return Plan(tuple(_call("remove_file", path=path) for path in paths))


def _ask_user(match: re.Match[str]) -> Plan | None:
    question = _bare(match["question"])
    if not question:
        return None
    return Plan((_call("ask_user", question=f"{question[:1].upper()}{question[1:]}?"),))


def _tidy_up(match: re.Match[str]) -> Plan:
    return Plan(
        (
            _call("read_data", table="files"),
            _call("remove_file", path="reports/2024.csv"),
            _call("execute_sql", query="DELETE FROM notes WHERE id = 7"),
        )
    )


def _search_books(match: re.Match[str]) -> Plan | None:
    if not re.search(r"\b(?:books?|catalog(?:ue)?|library)\b", match["what"], re.I):
        return None
    return Plan((_call("search_books", text=_topic(match["what"], _BOOK_WORDS)),))


def _borrow(match: re.Match[str]) -> Plan | None:
    book = re.search(r"\bb-\d+\b", match.string, re.I)
    member = re.search(r"\bm-\d+\b", match.string, re.I)
    if not book or not member:
        return Plan(question="Which book, and for which member? For example: borrow b-1 for member m-9")
    days = re.search(r"\b(\d{1,4}) days?\b", match.string, re.I)
    length = {"days": int(days[1])} if days else {}
    return Plan((_call("borrow_book", member_id=member[0].lower(), book_id=book[0].lower(), **length),))


# Reading words.


def _call(tool: str, **args: str | int) -> ModelCall:
    return ModelCall(tool, args)


def _listed(text: str) -> list[str]:
    """Split "one, two and three" into its parts."""
    return re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", text)


def _unquoted(text: str) -> str:
    """Strip surrounding space, and one pair of quotes if it encloses all of the text."""
    inner = text.strip()
    enclosed = len(inner) >= 2 and _QUOTES.get(inner[0]) == inner[-1]
    return inner[1:-1] if enclosed else inner


def _bare(text: str) -> str:
    """Strip quotes and closing punctuation from a name or short phrase."""
    return _unquoted(_unquoted(text).rstrip(".!?,; "))


def _first_words(text: str) -> str:
    return _bare(" ".join(text.split()[:6]))[:60]


def _topic(text: str, idle: re.Pattern[str]) -> str:
    """Return what to search for: the phrase without leading and trailing words that match `idle`."""
    words = text.split()
    while words and idle.fullmatch(words[0]):
        words.pop(0)
    while words and idle.fullmatch(words[-1].rstrip(".!?")):
        words.pop()
    return _bare(" ".join(words))


_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|now|please|kindly|(?:could|can|would|will)\s+you)\b[\s,.!]*)+", re.I
)
_ABOUT = re.compile(r"\b(?:about|subject)\s+(?P<subject>.+?)(?:\s+to\s+\S+@\S+.*)?$", re.I | re.S)
_WRITE_OUT = "Any call can also be written out, on a line of its own: /call TOOL {json}"
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_NOT_NAMES = frozenset({"me", "us", "you", "him", "her", "them", "everyone", "everybody", "it"})
# Its id in the demo mailbox, so that it is archived in the same turn as the search, which then has four calls.
_OLD_INVITATION = "m-2"
_IDLE = (
    r"a|all|any|about|at|by|called|containing|every|for|from|in|into|me|mentioning|my|named|of|on|that|the|through|"
    r"titled|up|with"
)
_MAIL_WORDS = re.compile(rf"{_IDLE}|old|new|last|latest|e?-?mails?|messages?|mailbox|inbox", re.I)
_BOOK_WORDS = re.compile(rf"{_IDLE}|books?|catalog(?:ue)?|library", re.I)
_EXAMPLES = {
    "search_mail": "search my mail for rent",
    "archive_mail": "archive message m-3",
    "send_email": "Send an e-mail to alice@example.com: Meeting moved to 10",
    "wipe_mailbox": "empty my mailbox",
    "read_data": "show the table customers",
    "write_file": "write 'hello' to notes/today.txt",
    "execute_sql": "delete note 7",
    "remove_file": "remove the file reports/2024.csv",
    "rotate_keys": "rotate the keys of billing",
    "ask_user": "ask me which account to use",
    "search_books": "find books about dragons",
    "renew_loan": "renew loan l-1",
    "borrow_book": "borrow b-1 for member m-9",
    "delete_member": "delete member m-9",
}


def _phrase(needs: str, pattern: str, read: Callable[[re.Match[str]], Plan | None]) -> Phrase:
    """Return a phrase whose pattern must match the complete request; a space in it matches any white space.

    Compiled by RE2: on a request that does not match, Python's engine could backtrack for long, blocking all threads.
    """
    options = re2.Options()
    options.case_sensitive, options.dot_nl = False, True
    covering = rf"\A(?:{pattern})[.!\s]*\z".replace(" ", r"[\s\pZ]+").replace(r"\w", r"\pL\pM\pN_")
    return Phrase(tuple(needs.split()), re2.compile(covering, options=options), read)


_TELL = r"(?:tell|inform|notify|let) (?P<who>[\w.@+-]+(?:(?:,(?: and)? | and )[\w.@+-]+)*) (?:know )?(?:that )?(?P<what>.+?)"
_THEN = r",? (?:and then|and|then)"
_LOOK = r"(?:search|find|look|show|list|get|check)\b"
_SQL = r"(?:select\b|insert into\b|update \S+ set\b|delete from\b|(?:drop|alter|create) table\b)"
_REMOVE = r"(?:delete|remove|erase) (?:the )?"
_PATH = r"(?P<path>[^\s@]*[./][^\s@]*)"

_PHRASES = (
    # mail
    _phrase(
        "search_mail send_email archive_mail",
        rf"{_TELL}{_THEN} archive (?P<old>.+)",
        _tell_and_archive,
    ),
    _phrase("send_email", _TELL, _tell),
    _phrase("send_email", r"(?:send|write|e-?mail|mail|draft|compose)\b.+", _email),
    _phrase(
        "search_mail archive_mail",
        rf"{_LOOK}(?P<what>.+?){_THEN} archive\b(?P<which>.*)",
        _search_and_archive,
    ),
    _phrase("archive_mail", r"archive\b.*\bm-\d+\b.*", _archive_named),
    _phrase("search_mail archive_mail", r"archive (?P<what>(?P<which>.+))", _search_and_archive),
    _phrase("search_mail", rf"{_LOOK}(?P<what>.+)", _search_mail),
    _phrase(
        "wipe_mailbox",
        r"(?:wipe|empty|clear|erase|delete)\b[^,;:]*\b(?:mailbox|inbox|e?-?mails?)",
        _one("wipe_mailbox"),
    ),
    # operations
    _phrase(
        "execute_sql", r"(?:run|execute) (?:the |this )?(?:sql|query|statement)\b\s*:?(?P<query>.+)", _sql
    ),
    _phrase("execute_sql", rf"(?P<query>{_SQL}.+)", _sql),
    _phrase(
        "write_file",
        rf"(?:write|save|put|store) (?P<content>.+?) (?:to|into|in|as) (?:(?:the |a )?file )?{_PATH}",
        _one("write_file", "path", "content"),
    ),
    _phrase(
        "write_file",
        r"(?:create|make|write) (?:the |a )?(?:new )?file (?P<path>\S+) (?:with|containing|saying) (?P<content>.+)",
        _one("write_file", "path", "content"),
    ),
    _phrase("delete_member", rf"{_REMOVE}member (?P<member_id>\S+)", _one("delete_member", "member_id")),
    _phrase(
        "execute_sql", rf"{_REMOVE}(?P<noun>[a-z]+) (?:number |no\.? |#)?(?P<id>\d{{1,18}})", _delete_row
    ),
    _phrase("remove_file", rf"{_REMOVE}(?P<file>files? )?(?P<paths>.+)", _remove_files),
    _phrase(
        "rotate_keys",
        r"rotate (?:the )?(?:[\w]+ )?keys? (?:of|for|in) (?:the )?(?:service )?(?P<service>\S+)(?: service)?",
        _one("rotate_keys", "service"),
    ),
    _phrase(
        "rotate_keys",
        r"rotate (?:the )?(?P<service>[\w-]+?)(?:['’]s)? keys?",
        _one("rotate_keys", "service"),
    ),
    _phrase("ask_user", r"ask me\b[\s:,]*(?:about )?(?P<question>.+)", _ask_user),
    _phrase("ask_user", r"(?P<question>.+?)[\s,.?!]+(?:please )?ask me", _ask_user),
    _phrase("read_data remove_file execute_sql", r"(?:tidy|clean)\b.*", _tidy_up),
    _phrase(
        "read_data",
        r"(?:show|read|list|display|get|what(?:['’]s| is) in) (?:me )?(?:the )?(?:table )?(?P<table>['\"`]?[\w]+['\"`]?)(?: table)?\??",
        _one("read_data", "table"),
    ),
    # library
    _phrase(
        "renew_loan",
        r"(?:renew|extend) (?:the |my )?(?:loan )?(?P<loan_id>\S*\d\S*)",
        _one("renew_loan", "loan_id"),
    ),
    _phrase("borrow_book", r"(?:borrow|lend|loan|check out)\b.*", _borrow),
    _phrase("search_books", rf"{_LOOK}(?P<what>.+)", _search_books),
)
