"""The editor's form view: one field per argument, from the tool's schema, over the same draft.

A field writes its own value into the draft and leaves every other argument as it is. What has no field of its own
type (unions, lists, objects, unknown names) is edited as JSON, so that nothing loses its value or type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from agent.review.actions import Action, Review
from agent.review.arguments.args import dumps, parse
from agent.review.errors import ArgumentsRefused
from agent.review.text.counts import are, counted
from pages.parts.common.folds import MOST_ROWS, in_rows
from pages.parts.common.literal import line
from pages.parts.state import widget_keys

Keep = Callable[[str | None], None]
"""Saves all arguments, as JSON, to the draft; None restores the proposal."""

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
NUMBERS = ("integer", "number")


def form(review: Review, action: Action, args: dict[str, Any], schema: Mapping[str, Any], keep: Keep) -> None:
    """Draw a field for every argument, and buttons to add or remove optional ones."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = set(schema.get("required", ()))
    own, others = in_rows(args)
    for place, (name, value) in enumerate(own.items(), start=1):
        field = _Field(review, action, args, name, keep, place)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            line(name)
            if name not in required:
                field.button("Remove", field.remove)
        field.draw(value, _resolved(properties.get(name, {}), schema))
    if others:
        st.caption(
            f"The form has the first {counted(len(own), 'argument')}. "
            f"The other {len(others):,} {are(len(others))} edited as JSON."
        )
    for name in list(properties)[:MOST_ROWS]:
        if name not in args:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                line(name)
                field = _Field(review, action, args, name, keep, len(args) + 1)
                field.button("Add", field.add(_blank(_resolved(properties[name], schema))))


class _Field:
    """One argument's widget, and its changes to the draft."""

    def __init__(
        self, review: Review, action: Action, args: dict[str, Any], name: str, keep: Keep, place: int
    ) -> None:
        self._args, self._name, self._keep = args, name, keep
        self._key = widget_keys.field_key("field", review, action, name)
        self._wrong = widget_keys.field_key("field-wrong", review, action, name)
        self._about = (review, action, name)
        # Hidden, but read aloud by a screen reader. A label is Markdown, so it may hold only a plain name.
        self._label = f"Argument {name if PLAIN.fullmatch(name) else place}"

    def draw(self, value: Any, schema: Mapping[str, Any]) -> None:
        if isinstance(schema.get("enum"), list) and dumps(value) in map(dumps, schema["enum"]):
            self._choice(value, schema["enum"])
        elif isinstance(value, bool):
            st.toggle(
                self._label, value, key=self._key, on_change=self._as_it_is, label_visibility="collapsed"
            )
        elif isinstance(value, str):
            st.text_area(
                self._label, value, key=self._key, on_change=self._as_it_is, label_visibility="collapsed"
            )
        else:
            self._json(value, schema)

    def button(self, label: str, act: Callable[[], None]) -> None:
        st.button(
            label,
            key=widget_keys.field_key(f"field-{label.lower()}", *self._about),
            type="tertiary",
            on_click=act,
        )

    def remove(self) -> None:
        self._args.pop(self._name, None)
        self._keep(dumps(self._args))

    def add(self, blank: Any) -> Callable[[], None]:
        return lambda: self._write(blank)

    def _write(self, value: Any) -> None:
        # In place, since another field may be written before the page is drawn again.
        self._args[self._name] = value
        self._keep(dumps(self._args))

    def _choice(self, value: Any, options: list[Any]) -> None:
        def write() -> None:
            self._write(options[st.session_state[self._key]])

        st.selectbox(
            self._label,
            range(len(options)),
            index=[dumps(one) for one in options].index(dumps(value)),  # 0 is not false
            format_func=lambda place: dumps(options[place]),
            key=self._key,
            on_change=write,
            label_visibility="collapsed",
        )

    def _as_it_is(self) -> None:
        self._write(st.session_state[self._key])

    def _json(self, value: Any, schema: Mapping[str, Any]) -> None:
        """Draw the value as JSON text, so that a number keeps its digits and a list or object its shape."""
        draw = st.text_input if isinstance(value, int | float) or value is None else st.text_area
        draw(
            f"{self._label}, as JSON",
            dumps(value),
            key=self._key,
            on_change=self._read,
            label_visibility="collapsed",
        )
        if value is None and schema.get("type") == "string":
            self.button("Write text", self.add(""))
        wrong = st.session_state.get(self._wrong)
        if wrong:
            line(f"Not taken: {wrong}")

    def _read(self) -> None:
        try:
            value = parse(st.session_state[self._key])
        except ArgumentsRefused as refused:
            st.session_state[self._wrong] = str(refused)
            return
        st.session_state.pop(self._wrong, None)
        self._write(value)


def _resolved(part: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of the value itself: references are followed, and "or null" is left out."""
    reference = str(part.get("$ref", ""))
    if reference.startswith("#/$defs/"):
        return _resolved(schema.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {}), schema)
    others = [one for one in part.get("anyOf", ()) if one.get("type") != "null"]
    return _resolved(others[0], schema) if len(others) == 1 else part


def _blank(schema: Mapping[str, Any]) -> Any:
    """Return the initial value of an added argument."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    empty: dict[str, Any] = {"string": "", "boolean": False, "array": [], "object": {}}
    return empty.get(str(schema.get("type")), 0 if schema.get("type") in NUMBERS else None)
