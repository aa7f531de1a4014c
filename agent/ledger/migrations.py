"""The ledger's tables, as ordered steps. A step that was released is never changed; a new one is added."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from agent.review.errors import LedgerUnavailable

FIRST = """
CREATE TABLE threads (
    thread_id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    created_by TEXT NOT NULL,
    opening TEXT NOT NULL,
    error TEXT
) STRICT;
CREATE INDEX threads_by_time ON threads (updated_at DESC);
CREATE INDEX threads_by_status ON threads (status);

CREATE TABLE messages (
    thread_id TEXT NOT NULL,
    idx INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    tool_calls TEXT NOT NULL,
    tool_call_id TEXT,
    status TEXT,
    at TEXT NOT NULL,
    PRIMARY KEY (thread_id, idx),
    UNIQUE (thread_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    delivery TEXT NOT NULL,
    owner TEXT NOT NULL,
    fence INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    started_by TEXT NOT NULL,
    state TEXT NOT NULL,
    stop_by TEXT,
    ended_at TEXT,
    error TEXT
) STRICT;
CREATE UNIQUE INDEX one_open_run ON runs (thread_id) WHERE state = 'open';
CREATE INDEX runs_by_thread ON runs (thread_id, fence DESC);

CREATE TABLE reviews (
    review_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    state TEXT NOT NULL,
    opened_at TEXT NOT NULL,
    expires_at TEXT,
    ended_at TEXT,
    ended_by TEXT,
    outcome TEXT
) STRICT;
CREATE INDEX reviews_waiting ON reviews (opened_at, review_id) WHERE state = 'open';
CREATE INDEX reviews_expiring ON reviews (expires_at) WHERE state = 'open';
CREATE INDEX reviews_by_thread ON reviews (thread_id, opened_at);

CREATE TABLE actions (
    thread_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    args TEXT NOT NULL,
    proposed_tool TEXT NOT NULL,
    proposed TEXT NOT NULL,
    tier TEXT NOT NULL,
    why TEXT NOT NULL,
    summary TEXT NOT NULL,
    allowed TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    state TEXT NOT NULL,
    position INTEGER NOT NULL,
    notes TEXT NOT NULL,
    call_digest TEXT NOT NULL,
    shown_digest TEXT NOT NULL,
    review_id TEXT,
    decision TEXT NOT NULL,
    decided_by TEXT,
    decided_at TEXT,
    approve_by REAL,
    execute_by TEXT,
    started_at TEXT,
    ended_at TEXT,
    result TEXT,
    owner TEXT,
    looked_over_by TEXT,
    UNIQUE (thread_id, message_id, tool_call_id, attempt)
) STRICT;
CREATE INDEX actions_by_call ON actions (thread_id, tool_call_id);
CREATE INDEX actions_by_review ON actions (review_id, position) WHERE review_id IS NOT NULL;
CREATE INDEX actions_unknown ON actions (thread_id) WHERE state = 'unknown';
CREATE INDEX actions_not_looked_over ON actions (ended_at)
    WHERE tier = 'log' AND looked_over_by IS NULL AND state IN ('done', 'failed');
CREATE INDEX actions_decided_and_ended ON actions (ended_at) WHERE decided_by IS NOT NULL;

CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    thread_id TEXT,
    agent TEXT,
    by TEXT,
    review_id TEXT,
    tool_call_id TEXT,
    tool TEXT,
    digest TEXT,
    salt TEXT NOT NULL,
    data TEXT,
    commitment TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_thread ON events (thread_id, seq);
CREATE INDEX events_by_kind ON events (kind, seq);
CREATE TRIGGER events_are_only_added BEFORE INSERT ON events WHEN NEW.seq <= (SELECT max(seq) FROM events)
    BEGIN SELECT RAISE(ABORT, 'the trail is append-only'); END;
CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the trail is append-only'); END;
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the trail is append-only'); END;

CREATE TABLE shown (
    review_id TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (review_id, reviewer)
) STRICT, WITHOUT ROWID;

CREATE TABLE drafts (
    review_id TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (review_id, reviewer)
) STRICT, WITHOUT ROWID;

CREATE TABLE halt (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    by TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;

CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    beat INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

RULES = """
CREATE TABLE rules (
    rule_id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    bound TEXT NOT NULL,
    free TEXT NOT NULL,
    thread_id TEXT,
    schema_hash TEXT NOT NULL,
    made_from TEXT NOT NULL,
    made_by TEXT NOT NULL,
    made_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    uses INTEGER NOT NULL,
    last_used_at TEXT,
    ended TEXT,
    ended_by TEXT,
    ended_at TEXT
) STRICT;
CREATE INDEX rules_standing ON rules (agent) WHERE ended IS NULL;

ALTER TABLE actions ADD COLUMN rule_id TEXT;
CREATE INDEX actions_by_rule ON actions (rule_id) WHERE rule_id IS NOT NULL;
CREATE INDEX events_by_tool ON events (tool, kind, seq) WHERE tool IS NOT NULL;
"""

NOTES = """
CREATE TABLE notes (
    note INTEGER PRIMARY KEY,
    thread_id TEXT NOT NULL,
    verdict TEXT NOT NULL,
    text TEXT NOT NULL,
    link TEXT NOT NULL,
    by TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;
CREATE INDEX notes_by_thread ON notes (thread_id, note);
"""

WAITING = """
CREATE INDEX reviews_waiting_by_agent ON reviews (agent, opened_at, review_id) WHERE state = 'open';

CREATE TABLE waiting (
    place INTEGER PRIMARY KEY,
    review_id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL
) STRICT;
CREATE TABLE waiting_tools (
    tool TEXT NOT NULL,
    opened_at TEXT NOT NULL,
    review_id TEXT NOT NULL,
    PRIMARY KEY (tool, opened_at, review_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX waiting_tools_by_review ON waiting_tools (review_id);
CREATE INDEX waiting_long ON waiting (place) WHERE length(text) > 20000;
CREATE VIRTUAL TABLE waiting_texts USING fts5 (
    text, content = 'waiting', content_rowid = 'place', tokenize = 'trigram case_sensitive 1'
);
CREATE TABLE waiting_count (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL
) STRICT;
INSERT INTO waiting_count (one, number) VALUES (1, 0);

CREATE TRIGGER waiting_enters AFTER INSERT ON waiting BEGIN
    INSERT INTO waiting_texts (rowid, text) VALUES (NEW.place, substr(NEW.text, 1, 20000));
    UPDATE waiting_count SET number = number + 1;
END;
CREATE TRIGGER waiting_leaves AFTER DELETE ON waiting BEGIN
    INSERT INTO waiting_texts (waiting_texts, rowid, text) VALUES ('delete', OLD.place, substr(OLD.text, 1, 20000));
    UPDATE waiting_count SET number = number - 1;
END;
CREATE TRIGGER reviews_end AFTER UPDATE OF state ON reviews WHEN OLD.state = 'open' AND NEW.state <> 'open' BEGIN
    DELETE FROM waiting WHERE review_id = OLD.review_id;
    DELETE FROM waiting_tools WHERE review_id = OLD.review_id;
END;

INSERT INTO waiting (review_id, text)
    SELECT r.review_id, folded(r.thread_id || char(10)
        || coalesce(group_concat(a.tool || char(10) || a.summary || char(10) || a.args, char(10)), ''))
    FROM reviews AS r LEFT JOIN actions AS a ON a.review_id = r.review_id
    WHERE r.state = 'open' GROUP BY r.review_id;
INSERT INTO waiting_tools (tool, opened_at, review_id)
    SELECT DISTINCT a.tool, r.opened_at, r.review_id
    FROM reviews AS r JOIN actions AS a ON a.review_id = r.review_id WHERE r.state = 'open';
"""

# A turn reads what is under way on its own thread, and needs to skip whatever has ended.
UNDER_WAY = """
CREATE INDEX actions_by_state ON actions (thread_id, state);
CREATE INDEX reviews_open_by_thread ON reviews (thread_id, opened_at, review_id) WHERE state = 'open';
"""

# Index the texts without positions, which nothing queries. Two line breaks after each text let every letter, even the
# last, begin a trigram.
GRAMS = """
DROP TRIGGER waiting_enters;
DROP TRIGGER waiting_leaves;
DROP TABLE waiting_texts;
CREATE VIRTUAL TABLE waiting_texts USING fts5 (
    text, content = 'waiting', content_rowid = 'place', detail = none, tokenize = 'trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE waiting_grams USING fts5vocab (waiting_texts, instance);

CREATE TRIGGER waiting_enters AFTER INSERT ON waiting BEGIN
    INSERT INTO waiting_texts (rowid, text)
        VALUES (NEW.place, substr(NEW.text, 1, 20000) || char(10) || char(10));
    UPDATE waiting_count SET number = number + 1;
END;
CREATE TRIGGER waiting_leaves AFTER DELETE ON waiting BEGIN
    INSERT INTO waiting_texts (waiting_texts, rowid, text)
        VALUES ('delete', OLD.place, substr(OLD.text, 1, 20000) || char(10) || char(10));
    UPDATE waiting_count SET number = number - 1;
END;
INSERT INTO waiting_texts (rowid, text)
    SELECT place, substr(text, 1, 20000) || char(10) || char(10) FROM waiting;
"""

# SQLite ends a text at a NUL character, so nothing after it was in the index.
WHOLE_TEXTS = """
CREATE TEMP TABLE cut_off AS SELECT review_id, folded(text) AS text FROM waiting WHERE instr(text, char(0));
DELETE FROM waiting WHERE review_id IN (SELECT review_id FROM cut_off);
INSERT INTO waiting (review_id, text) SELECT review_id, text FROM cut_off;
DROP TABLE cut_off;
"""

# The text of a review that ends is removed when the next one opens, which writes the index anyway: removing it alone
# takes a sixth of a decision's time. A long text is removed at once, because a search reads every letter of those.
LEAVING = """
DROP TRIGGER waiting_enters;
DROP TRIGGER waiting_leaves;
DROP TRIGGER reviews_end;
CREATE TABLE waiting_over (place INTEGER PRIMARY KEY) STRICT;

CREATE TRIGGER waiting_enters AFTER INSERT ON waiting BEGIN
    INSERT INTO waiting_texts (rowid, text)
        VALUES (NEW.place, substr(NEW.text, 1, 20000) || char(10) || char(10));
    UPDATE waiting_count SET number = number + 1;
    DELETE FROM waiting WHERE place IN (SELECT place FROM waiting_over ORDER BY place LIMIT 10);
END;
CREATE TRIGGER waiting_leaves AFTER DELETE ON waiting BEGIN
    INSERT INTO waiting_texts (waiting_texts, rowid, text)
        VALUES ('delete', OLD.place, substr(OLD.text, 1, 20000) || char(10) || char(10));
    DELETE FROM waiting_over WHERE place = OLD.place;
END;
CREATE TRIGGER reviews_end AFTER UPDATE OF state ON reviews WHEN OLD.state = 'open' AND NEW.state <> 'open' BEGIN
    UPDATE waiting_count SET number = number - 1;
    DELETE FROM waiting_tools WHERE review_id = OLD.review_id;
    DELETE FROM waiting WHERE review_id = OLD.review_id AND length(text) > 20000;
    INSERT INTO waiting_over (place) SELECT place FROM waiting WHERE review_id = OLD.review_id;
END;
"""

# The arguments that enter a tool, besides those its function receives; where in the agent it is called; its result.
AT_THE_DOOR = """
ALTER TABLE actions ADD COLUMN entered TEXT NOT NULL DEFAULT 'null';
ALTER TABLE actions ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE actions ADD COLUMN returned BLOB;
"""

# A thread's reviews are ordered by row number, with which every index ends: setting the clock back changes nothing.
IN_ORDER = """
DROP INDEX reviews_by_thread;
CREATE INDEX reviews_of_thread ON reviews (thread_id);
"""

# The reviews each reviewer was last given to decide on, by thread and by interface.
GIVEN = """
CREATE TABLE given (
    thread_id TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    face TEXT NOT NULL,
    reviews TEXT NOT NULL,
    PRIMARY KEY (thread_id, reviewer, face)
) STRICT, WITHOUT ROWID;
"""

# A review that was reopened outside the console can end a second time.
ENDING_TWICE = """
DROP TRIGGER reviews_end;
CREATE TRIGGER reviews_end AFTER UPDATE OF state ON reviews WHEN OLD.state = 'open' AND NEW.state <> 'open' BEGIN
    UPDATE waiting_count SET number = number - 1;
    DELETE FROM waiting_tools WHERE review_id = OLD.review_id;
    DELETE FROM waiting WHERE review_id = OLD.review_id AND length(text) > 20000;
    INSERT OR IGNORE INTO waiting_over (place) SELECT place FROM waiting WHERE review_id = OLD.review_id;
END;
"""

# From here on every hash is keyed, which older consoles cannot do. Data may be removed if an erasure event names it.
KEYED = """
CREATE TABLE chain_key (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    mark TEXT NOT NULL
) STRICT;
DROP TRIGGER events_are_not_changed;
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events WHEN NOT (
    NEW.data IS NULL AND NEW.salt = ''
    AND (NEW.seq, NEW.at, NEW.kind, NEW.commitment, NEW.hash)
        IS (OLD.seq, OLD.at, OLD.kind, OLD.commitment, OLD.hash)
    AND (NEW.thread_id, NEW.agent, NEW.by, NEW.review_id, NEW.tool_call_id, NEW.tool, NEW.digest)
        IS (OLD.thread_id, OLD.agent, OLD.by, OLD.review_id, OLD.tool_call_id, OLD.tool, OLD.digest)
    AND EXISTS (
        SELECT 1 FROM events AS erasing, json_each(erasing.data, '$.seqs') AS erased
        WHERE erasing.kind = 'DataErased' AND erasing.seq > OLD.seq AND erased.value = OLD.seq
    )
) BEGIN SELECT RAISE(ABORT, 'the trail is append-only'); END;
"""

MIGRATIONS: Sequence[str] = (
    *(FIRST, RULES, NOTES, WAITING, UNDER_WAY, GRAMS, WHOLE_TEXTS, LEAVING),
    *(AT_THE_DOOR, IN_ORDER, GIVEN, ENDING_TWICE, KEYED),
)


def migrate(conn: sqlite3.Connection) -> None:
    """Migrate the database to the present version, each step in a transaction of its own.

    Raises `LedgerUnavailable` if a newer console has written it.
    """
    while (version := _version(conn)) < len(MIGRATIONS):
        conn.execute("BEGIN IMMEDIATE")
        try:
            if _version(conn) == version:  # another process may have been quicker
                for statement in _statements(MIGRATIONS[version]):
                    conn.execute(statement)
                conn.execute(f"PRAGMA user_version = {version + 1}")
            conn.execute("COMMIT")
        except BaseException:
            if conn.in_transaction:  # if the disk is full, SQLite has rolled back already
                conn.execute("ROLLBACK")
            raise
    if version > len(MIGRATIONS):
        raise LedgerUnavailable(
            f"a newer version of the console has written it, {version} after {len(MIGRATIONS)}"
        )


def _version(conn: sqlite3.Connection) -> int:
    return int(conn.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> list[str]:
    """Split the script into statements, because `executescript` would commit the transaction it is in."""
    statements, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
