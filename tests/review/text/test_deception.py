"""Nothing hidden stays hidden, no two texts look alike, and ordinary text is left in peace."""

import json
import re
import string
import time
import unicodedata
from pathlib import Path
from typing import Any, Literal

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from agent.review.arguments.args import check
from agent.review.errors import ArgumentsRefused
from agent.review.text.deception import Suspicion, cautions, visible

CASES = json.loads((Path(__file__).parents[2] / "cases" / "deception.json").read_text("utf-8"))
shown_cases = [
    pytest.param(one["value"], one["expect"], id=one["name"])
    for one in CASES
    if "refused_when_proposed" not in one["expect"]
]
refused_cases = [
    pytest.param(one["value"], id=one["name"]) for one in CASES if "refused_when_proposed" in one["expect"]
]

NEVER_BARE = regex.compile(
    r"(?V1)[[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}\u00AD\u034F\u115F\u1160\u3164\uFFA0\u2060-\u2064\uFEFF]--\n]"
)
SOMETIMES_BARE = "\u200b\u200c\u200d\u00a0\u202f\u2009\u3000\ufe0e\ufe0f\u2800\u180b\u180c\u180d\u180e\u180f"

# Whatever the rules treat in a way of its own, close together, beside letters, emoji and imitations of marks.
PIECES = [
    *"aяه क日1!⟨⟩ \t\n\r\\é👩❤🏽🏴",
    *SOMETIMES_BARE,
    *("\u202e", "\ufeff", "\u2028", "\x1b", "\x00", "\U000e0041", "\r\n", "\n" * 12, " " * 100),
    *("⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩", "⟨TAB⟩", "⟨2 SPACES⟩", "⟨NEWLINE⟩", "⟨12 NEWLINES⟩", "⟨CR⟩"),
    "🏴" + "".join(chr(0xE0000 + ord(c)) for c in "gbeng") + "\U000e007f",
]
tricky = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
texts = tricky | st.text(st.characters(codec=None, exclude_categories=()))


def read_back(shown: str) -> str:
    """The text that is shown so: the inverse of `visible`, which exists only if no two texts look alike."""

    def original(match: re.Match[str]) -> str:
        code, times, count, name = match["code"], match["times"], match["count"], match["name"]
        if code:
            return chr(int(code, 16)) * int(times or 1)
        return {"TAB": "\t", "SPACE": " ", "NEWLINE": "\n", "CR": "\r"}[name] * int(count or 1)

    return re.sub(
        r"⟨U\+(?P<code>[0-9A-F]{4,6}) [^⟩×]+?(?: ×(?P<times>\d+))?⟩"
        r"|\n?⟨(?P<flood>\d+) NEWLINES⟩\n?|⟨(?:(?P<count>\d+) )?(?P<name>TAB|SPACE|CR|NEWLINE)S?⟩(?:(?<=NEWLINE⟩)\n)?",
        lambda match: "\n" * int(match["flood"]) if match["flood"] else original(match),
        shown,
    )


@pytest.mark.parametrize(("value", "expect"), shown_cases)
def test_a_case_is_shown_and_warned_of_as_agreed(value: str, expect: dict[str, Any]) -> None:
    shown = visible(value)
    found = " ".join(told for caution in cautions("path", value) for told in caution.found)
    assert all(f"⟨{code} " in shown for code in expect["visible_code_points"])
    assert all(text in shown for text in expect["shown_literally"])
    assert bool(cautions("path", value)) == expect["warning"]
    assert all(text in found for text in expect["warning_mentions"])
    if not expect["visible_code_points"]:
        assert shown == value


@pytest.mark.parametrize("value", refused_cases)
def test_a_case_that_cannot_be_sent_is_refused_and_could_be_shown_all_the_same(value: str) -> None:
    with pytest.raises(ArgumentsRefused):
        check({"path": value})
    visible(value).encode("utf-8")


@given(texts)
@example("\ufeff")
def test_what_is_shown_holds_nothing_hidden(text: str) -> None:
    shown = visible(text)
    assert not NEVER_BARE.search(shown)
    shown.encode("utf-8")


@given(texts)
@example("\n")
@example("\n\n")
@example("a\n" + " " * 3)
@example("\n" * 12)
@example("⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩\u202e")
@example("⟨2 SPACES⟩")
@example("\r\r\n")
def test_the_text_can_be_read_back_from_what_is_shown(text: str) -> None:
    assert read_back(visible(text)) == text


@given(texts)
@example("\n" * 12)
def test_what_is_shown_loses_nothing_where_a_page_trims_it(text: str) -> None:
    shown = visible(text)
    assert not shown.startswith((" ", "\t"))
    assert not shown.endswith((" ", "\n", "\t"))
    assert "\n\n\n\n\n\n\n\n\n\n" not in shown


@given(st.lists(st.text(string.ascii_letters + string.digits + string.punctuation, min_size=1)).map(" ".join))
def test_plain_ascii_is_shown_unchanged_and_without_a_warning(text: str) -> None:
    assert visible(text) == text
    assert cautions("body", text) == () or "xn--" in text.lower() or "://" in text


def test_lines_and_indentation_are_shown_as_they_are() -> None:
    text = "def f():\n    return 1\n\n\nprint(f())"
    assert visible(text) == text


STACKED = {
    "Vietnamese": "Cuộc họp được chuyển sang mười giờ sáng: ữ ẫ ợ",
    "Thai": "น้ำใจ ที่นี่ เพื่อนรู้ ปั๊มน้ำมัน",
    "Lao": "ນ້ຳ ເປັ່ນ",
    "Hindi": "ट्रिब्यूनल में ज़रूरत है। र्ड़ीं क़्याँ",
    "Vedic": "अ॒ग्निमी॑ळे पु॒रोहि॑तं॒",
    "Hebrew with niqqud and te'amim": "בְּרֵאשִׁ֖ית בָּרָ֣א אֱלֹהִ֑ים אֵ֥ת הַשָּׁמַ֖יִם וְאֵ֥ת הָאָֽרֶץ׃",
    "Arabic with harakat": "بِسْمِ ٱللَّهِ ٱلرَّحْمَـٰنِ ٱلرَّحِيمِ وَلَا ٱلضَّآلِّينَ مِّنۢ بَعۡدِ",
    "Syriac": "ܡܰܪܝܳܐ ܐܰܠܳܗܳܐ ܬܺܐܒܶܝܠ",
    "Tibetan": "ཨོཾ་མ་ཎི་པདྨེ་ཧཱུྃ། ཧཀྵྨླྺྼྻཾ",
    "Burmese": "မြန်မာနိုင်ငံတွင် ကျွန်ုပ်တို့သည် ဖြစ်၍",
    "Khmer": "ខ្ញុំស្រឡាញ់ភាសាខ្មែរ ស្ត្រី",
    "polytonic Greek": "ᾧ ᾗ Ἄνδρα μοι ἔννεπε, μοῦσα ᾂ",
    "Church Slavonic": "бг҃ъ сл҃нце ѻ҆́тче",
    "Yoruba": "ẹ̀kọ́ ọ̀rọ̀",
    "Lithuanian": "ą́ ė́ i̇́",
    "IPA": "ʈ͡ʂʰ ã̟̃ ɔ̃ː t̪͡s̪ʼ n̥̩",
    "Sanskrit in Latin letters": "r̥̄ṣ́ ṁ",
}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in STACKED.items()])
def test_marks_as_a_language_puts_them_on_its_letters_are_left_in_peace(
    text: str, form: Literal["NFC", "NFD"]
) -> None:
    written = unicodedata.normalize(form, text)
    assert visible(written) == written
    assert cautions("body", written) == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a" + "\u0301\u0302\u0303\u0304\u0308b", "\u0301"),
        ("to\u0351\u036b\u0343\u036a\u0302\u036bp", "\u036b"),
        ("ก" + "\u0e47" * 6, "\u0e47"),
        ("a\u0316\u0316\u0316", "\u0316"),
        ("ע" + "\u0591\u0592\u0593\u0594\u0595\u0596\u0597\u0598\u0599", "\u0595"),
        ("S\u0336t\u0336", "\u0336"),
        ("pay \u0489", "\u0489"),
    ],
)
def test_marks_that_cover_the_text_around_are_written_out_and_warned_of(text: str, shown: str) -> None:
    assert shown not in visible(text)
    assert f"⟨U+{ord(shown):04X} " in visible(text)
    assert read_back(visible(text)) == text
    (caution,) = cautions("body", text)
    assert caution.suspicion is Suspicion.HIDDEN
    assert any(f"U+{ord(shown):04X}" in told for told in caution.found)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://google.com@evil.com", "google.com@evil.com leads to evil.com"),
        ("see https://user:pw@host/x", "user:pw@host leads to host"),
        ("http://a@b@c/d", "a@b@c leads to c"),
        (r"https://google.com\@evil.com", r"google.com\@evil.com leads to evil.com"),
        ("ssh://github.com@evil.com", "github.com@evil.com leads to evil.com"),
        ("ssh://git:pw@host", "git:pw@host leads to host"),
    ],
)
def test_a_url_with_a_user_before_its_host_is_warned_of(url: str, told: str) -> None:
    assert visible(url) == url
    assert [(one.suspicion, one.found) for one in cautions("link", url)] == [(Suspicion.URL_USER, (told,))]


@pytest.mark.parametrize(
    "text",
    [
        "https://medium.com/@ann",
        "https://x.example/?to=a@b.c",
        "ssh://git@github.com/a",
        "ann@example.com",
        "a://b c@d",
    ],
)
def test_an_at_sign_elsewhere_is_left_in_peace(text: str) -> None:
    assert cautions("link", text) == ()


def test_a_long_row_of_changing_hidden_characters_is_one_mark_that_tells_it_from_any_other() -> None:
    row, other = "\u200b\u202e" * 300, "\u202e\u200b" * 300
    shown = visible(f"a{row}b")
    assert len(shown) < 100
    assert "⟨600 HIDDEN CHARACTERS, SHA-256 " in shown
    assert shown != visible(f"a{other}b")
    assert cautions("body", row)[0].found == (
        "U+200B ZERO WIDTH SPACE ×300",
        "U+202E RIGHT-TO-LEFT OVERRIDE ×300",
    )
    assert [one.suspicion for one in cautions("body", shown)] == [Suspicion.IMITATION]
    assert read_back(visible("\u200b\u202e" * 90)) == "\u200b\u202e" * 90


ORDINARY = {
    "Indonesian": "Rapat dipindah ke pukul 10, jangan lupa membawa laporan.",
    "German": "Größe prüfen: 3.000 € für die Straße, Maß und Übung.",
    "French": "L’été dernier\u00a0: 1\u202f000\u00a0€, n’est-ce pas\u00a0? «\u00a0Oui\u00a0»",
    "Spanish": "¿Cuándo será la reunión de mañana? ¡Qué niño!",
    "short Turkish": "Toplantı saat onda",
    "Turkish names": "Yılmaz, Işık ve Iğdır; fiyatı yapılabilir.",
    "full-width letters": "ＮＨＫの会議は１０時、ＵＲＬはＡＢＣ社です。",
    "symbols": "x ∈ ℝ, 5 ℓ, № 7, 20 ℃, a ≠ b",
    "Turkish": "Kıbrıs'ta ılık bir gün; İstanbul'da yağmur.",
    "Polish": "Zażółć gęślą jaźń w\u00a0Łodzi.",
    "Czech": "Schůzka je v\u00a0Praze s\u00a0ředitelem o\u00a0půl.",
    "Vietnamese": "Cuộc họp được chuyển sang mười giờ sáng.",
    "Russian": "Встреча в десять, не забудьте отчёт. Вот оно, соха и рот.",
    "Ukrainian": "Зустріч о десятій, п’ять хвилин їжі.",
    "Greek": "Η συνάντηση είναι στις δέκα, μην αργήσετε.",
    "Armenian": "Հանդիպումը ժամը տասին է։",
    "Georgian": "შეხვედრა ათ საათზეა.",
    "Hebrew": "הפגישה בשעה עשר, לא לשכוח.",
    "Arabic": "الاجتماع الساعة العاشرة، لا تنسَ. عام ١٤٤٥ ه\u200d",
    "Persian": "می\u200cخواهم کتاب\u200cها را ببینم؛ روز\u200cها",
    "Urdu": "اجلاس دس بجے ہے، بھولیے گا نہیں۔",
    "Hindi": "बैठक दस बजे है, क्\u200dष और र्\u200dय।",
    "Bengali": "সভা দশটায়, র\u200d্যাব।",
    "Tamil": "கூட்டம் பத்து மணிக்கு.",
    "Malayalam": "യോഗം പത്തു മണിക്ക്, അവന്\u200d.",
    "Sinhala": "රැස්වීම දහයට, ශ්\u200dරී ලංකා.",
    "Thai": "การประชุม\u200bเริ่มเวลาสิบโมง",
    "Khmer": "ការប្រជុំ\u200bនៅម៉ោងដប់",
    "Chinese": "会议在十点开始，别忘了带U盘。",
    "Japanese": "会議は１０時です。　山田　太郎、URLはこちら。",
    "Korean": "회의는 10시입니다. API를 확인하세요.",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ\u180eᠠ ᠪᠢᠴᠢᠭ",
    "Amharic": "ስብሰባው በአሥር ሰዓት ነው።",
    "Braille": "⠓⠑⠇⠇⠕\u2800⠺⠕⠗⠇⠙",
    "emoji": "👩🏽\u200d💻 1\ufe0f\u20e3 🇮🇩 ❤\ufe0f\u200d🔥 ✌🏿 ☎\ufe0e 👁\ufe0f\u200d🗨\ufe0f 🏴\u200d☠\ufe0f",
    "formulas": "ΔT = 5 °C, λx, ρv², 10 μm, kΩ, α = 0.05 and ∑",
    "loan words": "SMSка пришла, IT-отдел обновил Wi-Fi и USB-порт",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in ORDINARY.items()])
def test_ordinary_text_is_shown_unchanged_and_without_a_warning(text: str) -> None:
    assert visible(text) == text
    assert cautions("body", text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "https://пример.рф/страница",
        "https://москва.com",
        "https://example.com/отчёт_final.pdf",
        "https://kıbrıs.com",
        "https://例え.jp（日本語）です。",
        "иван.петров@пример.рф",
        "müller@bücher.example",
        "/home/анна/Документы/отчёт2024.pdf",
        "C:\\Users\\Ελένη\\Έγγραφα",
        "/data/レポートv2/会議.txt",
        "xn--e1afmkfd.xn--p1ai",
    ],
)
def test_names_in_a_language_are_left_in_peace(text: str) -> None:
    assert visible(text) == text
    assert cautions("path", text) == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("facebooк.com", "U+043A"),
        ("see gооgle.com now", "U+043E"),
        ("https://аррӏе.com/", "U+0430"),
        ("https://xn--80ak6aa92e.com/", "U+0430"),
        ("https://ｇoogle.com", "U+FF47"),
        ("https://ɡoogle.com", "U+0261"),
        ("https://example.com∕login.evil.example/x", "U+2215"),
        ("https://exаmple.com/?a=1", "U+0430"),
        ("ssh://git@exаmple.com", "U+0430"),
        ("admin@ехample.com", "U+0435"),
        ("/tmp/сору.txt", "U+0441"),
        ("C:\\Wіndows\\x", "U+0456"),
        ("DROP TABLE uѕers", "U+0455"),
        ("run ср -r now", "U+0441"),
        ("ＤＲＯＰ TABLE notes", "U+FF24"),
        ("pay １００ USD", "U+FF11"),
        ("gooｇleの検索", "U+FF47"),
        ("https://example.com/ａdmin", "U+FF41"),
        ("as 𝐚𝐝𝐦𝐢𝐧 now", "U+1D41A"),
        ("rm -𝘳𝘧 /", "U+1D633"),
        ("pay 𝟏𝟎𝟎 USD", "U+1D7CF"),
        ("the ℝeal one", "U+211D"),
        ("delete the admın account", "U+0131"),
        ("https://gıthub.com/login", "U+0131"),
        ("mıcrosoft.com", "U+0131"),
        ("lınkedın.com", "U+0131"),
        ("admın@example.com", "U+0131"),
        ("/home/admın/x", "U+0131"),
        ("ȷohn was here", "U+0237"),
    ],
)
def test_a_letter_that_passes_for_another_is_named_with_its_word(text: str, code: str) -> None:
    (caution,) = cautions("target", text)
    assert caution.argument == "target"
    assert caution.suspicion is Suspicion.LOOKALIKE
    assert any(code in told for told in caution.found)


def test_a_tools_name_is_held_to_the_rules_for_names() -> None:
    assert cautions("tool", "send_emaіl", "name")[0].suspicion is Suspicion.LOOKALIKE
    assert cautions("tool", "отправить_письмо", "name") == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb", "a⟨TAB⟩b"),
        ("a\t\t\tb", "a⟨3 TABS⟩b"),
        ("a\r\nb", "a⟨CR⟩\nb"),
        ("a  ", "a⟨2 SPACES⟩"),
        ("a \nb", "a⟨SPACE⟩\nb"),
        ("  a", "⟨2 SPACES⟩a"),
        ("a\n", "a⟨NEWLINE⟩"),
        ("\na", "⟨NEWLINE⟩\na"),
    ],
)
def test_blanks_that_cannot_be_seen_are_marked_without_a_warning(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert cautions("body", text) == ()


@pytest.mark.parametrize("text", ["safe" + "\n" * 40 + "rm", "safe" + " " * 400 + "rm"])
def test_blank_space_that_pushes_text_out_of_sight_is_folded_and_warned_of(text: str) -> None:
    assert len(visible(text)) < 40
    assert [caution.suspicion for caution in cautions("body", text)] == [Suspicion.PADDING]


def test_text_that_imitates_a_mark_is_told_apart_and_warned_of() -> None:
    assert visible("⟨TAB⟩") == "⟨U+27E8 MATHEMATICAL LEFT ANGLE BRACKET⟩TAB⟩"
    assert [caution.suspicion for caution in cautions("body", "⟨TAB⟩")] == [Suspicion.IMITATION]
    assert visible("⟨ψ|φ⟩") == "⟨ψ|φ⟩"


@pytest.mark.parametrize(
    "char",
    [
        "\u2066",
        "\u00ad",
        "\u2028",
        "\u0085",
        "\ue000",
        "\U000f0000",
        "\u0378",
        "\ufffe",
        "\u2000",
        "\u180e",
        "\x7f",
    ],
)
def test_every_kind_of_hidden_character_is_marked_and_named(char: str) -> None:
    assert visible(f"a{char}b").startswith(f"a⟨U+{ord(char):04X} ")
    (caution,) = cautions("body", f"a{char}b")
    assert caution.suspicion is Suspicion.HIDDEN
    assert f"U+{ord(char):04X}" in caution.found[0]


def test_emoji_carry_no_hidden_text() -> None:
    tags = "".join(chr(0xE0000 + ord(c)) for c in "hide")
    for text in (f"🏴{tags}\U000e007f", "❤\ufe0f\ufe01\ufe0f", "😀\U000e0100", "👩\u200d\u200d👩"):
        assert [caution.suspicion for caution in cautions("body", text)] == [Suspicion.HIDDEN]


def test_ten_thousand_findings_make_a_short_warning() -> None:
    text = "".join(chr(0xE000 + n) for n in range(6_000))
    (caution,) = cautions("body", text)
    assert len(caution.found) == 21
    assert caution.found[-1] == "and 5,980 more"


@pytest.mark.parametrize("sentence", ["The quick brown fox. ", "Встреча в десять утра. ", "会议在十点开始。"])
def test_a_megabyte_of_plain_text_is_looked_through_in_an_instant(sentence: str) -> None:
    text = sentence * (1_000_000 // len(sentence)) + "."
    begun = time.thread_time()
    assert visible(text) == text
    assert cautions("body", text) == ()
    assert time.thread_time() - begun < 5  # well under one on a quiet machine


@pytest.mark.parametrize("piece", ["я@", "://я", "xn--", "a ", "я.", " \u200b", "ab\t"])
def test_no_text_makes_the_search_slow(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    begun = time.thread_time()
    visible(text)
    cautions("body", text)
    assert time.thread_time() - begun < 10
