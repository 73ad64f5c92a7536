"""Breaking changes between two JSON Schemas of one message.

Two versions of a service run side by side during an upgrade, so some changes break whoever wrote or reads the message:
a field removed or renamed, a new field that is required, a type replaced, an enum value taken away. The rest depends on
the message's role: what old writers send must still be accepted (commands, requests), what new writers send must still
be understood by old readers (replies), and both hold for what is stored and read again later (events).

Left out on purpose: a changed default or description, and a new optional field whose name an old writer might already
have used for something nobody read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from cortex_contracts import shapes
from cortex_contracts.shapes import Schema

_Refs: TypeAlias = frozenset[tuple[str, str]]


class Role(StrEnum):
    """Who must survive a change of a message."""

    CONSUMED = "consumed"
    """Commands and requests: what old writers send is still accepted."""
    PRODUCED = "produced"
    """Replies: what new writers send is still understood by old readers."""
    STORED = "stored"
    """Events: both."""


class Rule(StrEnum):
    """The kinds of breaking change."""

    MESSAGE_REMOVED = "message removed"
    FIELD_REMOVED = "field removed"
    FIELD_ADDED = "field added to a closed object"
    FIELD_REQUIRED = "field required"
    FIELD_OPTIONAL = "field no longer required"
    TYPE_CHANGED = "type changed"
    TYPE_NARROWED = "type narrowed"
    TYPE_WIDENED = "type widened"
    NULL_REFUSED = "null no longer accepted"
    NULL_ADDED = "null now possible"
    ENUM_NARROWED = "enum narrowed"
    ENUM_WIDENED = "enum widened"
    CONSTRAINT_TIGHTENED = "constraint tightened"
    CONSTRAINT_LOOSENED = "constraint loosened"
    CONSTRAINT_CHANGED = "constraint changed"
    OBJECT_CLOSED = "unknown fields refused"
    OBJECT_OPENED = "unknown fields now possible"
    ALTERNATIVE_REMOVED = "alternative removed"
    ALTERNATIVE_ADDED = "alternative added"


_BREAKS_WRITERS: Final = frozenset(
    {
        Rule.TYPE_NARROWED,
        Rule.NULL_REFUSED,
        Rule.CONSTRAINT_TIGHTENED,
        Rule.OBJECT_CLOSED,
        Rule.ALTERNATIVE_REMOVED,
    }
)
_BREAKS_READERS: Final = frozenset(
    {
        Rule.FIELD_ADDED,
        Rule.FIELD_OPTIONAL,
        Rule.TYPE_WIDENED,
        Rule.NULL_ADDED,
        Rule.ENUM_WIDENED,
        Rule.CONSTRAINT_LOOSENED,
        Rule.OBJECT_OPENED,
        Rule.ALTERNATIVE_ADDED,
    }
)


@dataclass(frozen=True, slots=True)
class Breaking:
    """One breaking change: where in the message, which kind, and what exactly."""

    path: str
    rule: Rule
    detail: str

    def __str__(self) -> str:
        return f"{self.path}: {self.rule}: {self.detail}"


def compare(old: Schema, new: Schema, role: Role, *, name: str = "$") -> tuple[Breaking, ...]:
    """The changes from `old` to `new` that break a message of this role; paths start with `name`."""
    return tuple(_Comparison(old, new, role).schemas(name, old, new, frozenset()))


def compare_all(
    released: Mapping[str, Schema], current: Mapping[str, Schema], roles: Mapping[str, Role]
) -> tuple[Breaking, ...]:
    """The breaking changes between two sets of messages; a message that is only in `current` breaks nobody."""
    found: list[Breaking] = []
    for name, old in sorted(released.items()):
        if name in current:
            found += compare(old, current[name], roles[name], name=name)
        else:
            found.append(Breaking(name, Rule.MESSAGE_REMOVED, "it is in the released set"))
    return tuple(found)


class _Comparison:
    """One walk through two schemas; `refs` are the pairs of references being compared, so recursion ends."""

    def __init__(self, old: Schema, new: Schema, role: Role) -> None:
        self._old, self._new, self._role = old, new, role

    def schemas(self, path: str, old: Schema | bool, new: Schema | bool, refs: _Refs) -> Iterator[Breaking]:
        """Compare as unions: `null` and the other alternatives apart."""
        if shapes.is_any(old, self._old) and shapes.is_any(new, self._new):
            return
        olds, old_null = self._without_null(old, self._old)
        news, new_null = self._without_null(new, self._new)
        if old_null and not new_null and not any(shapes.is_any(schema, self._new) for schema in news):
            yield from self._broken(path, Rule.NULL_REFUSED, "null was accepted")
        if new_null and not old_null and not any(shapes.is_any(schema, self._old) for schema in olds):
            yield from self._broken(path, Rule.NULL_ADDED, "null was impossible")
        if len(olds) == len(news) == 1:
            yield from self._plain(path, olds[0], news[0], refs)
        else:
            yield from self._unions(path, olds, news, refs)

    @staticmethod
    def _without_null(schema: Schema | bool, root: Schema) -> tuple[list[Schema], bool]:
        members = list(shapes.alternatives(schema, root))
        others = [member for member in members if not shapes.is_null(member, root)]
        return others, len(others) < len(members)

    def _broken(self, path: str, rule: Rule, detail: str) -> Iterator[Breaking]:
        harmless = (rule in _BREAKS_WRITERS and self._role is Role.PRODUCED) or (
            rule in _BREAKS_READERS and self._role is Role.CONSUMED
        )
        if not harmless:
            yield Breaking(path, rule, detail)

    def _unions(self, path: str, olds: Sequence[Schema], news: Sequence[Schema], refs: _Refs) -> Iterator[Breaking]:
        found = {(i, j): list(self._plain(path, o, n, refs)) for i, o in enumerate(olds) for j, n in enumerate(news)}
        unmatched = set(range(len(news)))
        for i, one in enumerate(olds):
            kind = shapes.kind(one, self._old)
            fitting = [j for j in range(len(news)) if not found[i, j]]
            alike = [j for j in sorted(unmatched) if shapes.kind(news[j], self._new) == kind]
            if fitting:
                unmatched.discard(next((j for j in fitting if j in alike), fitting[0]))
            elif alike:
                best = min(alike, key=lambda j: len(found[i, j]))
                unmatched.discard(best)
                yield from found[i, best]
            else:
                yield from self._broken(path, Rule.ALTERNATIVE_REMOVED, kind)
        for j in sorted(unmatched):
            if all(found[i, j] for i in range(len(olds))):
                yield from self._broken(path, Rule.ALTERNATIVE_ADDED, shapes.kind(news[j], self._new))

    def _plain(self, path: str, old: Schema, new: Schema, refs: _Refs) -> Iterator[Breaking]:
        """Compare two schemas that are not unions."""
        pair = (str(old.get("$ref", "")), str(new.get("$ref", "")))
        if all(pair):
            if pair in refs:
                return
            refs |= {pair}
        old, new = shapes.resolve(old, self._old), shapes.resolve(new, self._new)
        before, after = shapes.types(old), shapes.types(new)
        if before != after:
            said = f"{_said(before)} became {_said(after)}"
            narrower, wider = shapes.within(after, before), shapes.within(before, after)
            if not narrower and not wider:
                yield from self._broken(path, Rule.TYPE_CHANGED, said)
                return
            yield from self._broken(path, Rule.TYPE_NARROWED if narrower else Rule.TYPE_WIDENED, said)
        yield from self._enums(path, shapes.values(old), shapes.values(new))
        yield from self._constraints(path, old, new)
        yield from self._objects(path, old, new, refs)
        yield from self._arrays(path, old, new, refs)

    def _enums(self, path: str, old: frozenset[str] | None, new: frozenset[str] | None) -> Iterator[Breaking]:
        if old is None or new is None:
            if new is not None:
                yield from self._broken(path, Rule.CONSTRAINT_TIGHTENED, f"any value became one of {_said(new)}")
            if old is not None:
                yield from self._broken(path, Rule.CONSTRAINT_LOOSENED, f"one of {_said(old)} became any value")
            return
        if old - new:
            yield from self._broken(path, Rule.ENUM_NARROWED, f"lost {_said(old - new)}")
        if new - old:
            yield from self._broken(path, Rule.ENUM_WIDENED, f"gained {_said(new - old)}")

    def _constraints(self, path: str, old: Schema, new: Schema) -> Iterator[Breaking]:
        for keyword in shapes.BOUNDS:
            was, now = shapes.limit(keyword, old), shapes.limit(keyword, new)
            if was != now:
                rule = Rule.CONSTRAINT_TIGHTENED if now < was else Rule.CONSTRAINT_LOOSENED
                yield from self._broken(path, rule, f"{keyword} {_bound(keyword, old)} became {_bound(keyword, new)}")
        # A keyword this module does not know may mean anything: a change of it is reported, never waved through.
        for keyword in sorted((old.keys() | new.keys()) - shapes.ANNOTATIONS - shapes.STRUCTURE - {*shapes.BOUNDS}):
            before = shapes.inlined(old.get(keyword), self._old)
            after = shapes.inlined(new.get(keyword), self._new)
            if before == after or keyword.startswith("x-"):
                continue
            rule = Rule.CONSTRAINT_CHANGED
            if keyword in shapes.EXACT and (before is None or after is None):
                rule = Rule.CONSTRAINT_TIGHTENED if before is None else Rule.CONSTRAINT_LOOSENED
            yield from self._broken(path, rule, f"{keyword} {before!r} became {after!r}")

    def _objects(self, path: str, old: Schema, new: Schema, refs: _Refs) -> Iterator[Breaking]:
        had, has = old.get("properties", {}), new.get("properties", {})
        for field in had:
            if field in has:
                yield from self.schemas(f"{path}.{field}", had[field], has[field], refs)
            else:
                twins = [
                    f
                    for f in has
                    if f not in had and shapes.bare(has[f], self._new) == shapes.bare(had[field], self._old)
                ]
                hint = f"renamed to {' or '.join(twins)}?" if twins else "old writers send it, old readers expect it"
                yield from self._broken(f"{path}.{field}", Rule.FIELD_REMOVED, hint)
        needed, needs = set(old.get("required", ())), set(new.get("required", ()))
        for field in sorted(needs - needed):
            if field not in had or self._role is not Role.PRODUCED:
                yield Breaking(f"{path}.{field}", Rule.FIELD_REQUIRED, "was optional" if field in had else "is new")
        for field in sorted((needed - needs) & has.keys()):
            yield from self._broken(f"{path}.{field}", Rule.FIELD_OPTIONAL, "old readers expect it")
        was, now = old.get("additionalProperties", True), new.get("additionalProperties", True)
        for field in sorted(has.keys() - had.keys()):
            if was is False:
                yield from self._broken(f"{path}.{field}", Rule.FIELD_ADDED, "old readers refuse it")
            elif was is not True:
                yield from self.schemas(f"{path}.{field}", was, has[field], refs)
        if (was is False) != (now is False):
            yield from self._broken(
                path, Rule.OBJECT_CLOSED if now is False else Rule.OBJECT_OPENED, "additionalProperties"
            )
        elif was is not False:
            yield from self.schemas(f"{path}.*", was, now, refs)
        yield from self.schemas(f"{path}.<name>", old.get("propertyNames", True), new.get("propertyNames", True), refs)
        patterns, now_patterns = old.get("patternProperties", {}), new.get("patternProperties", {})
        for pattern in sorted(patterns.keys() | now_patterns.keys()):
            yield from self.schemas(
                f"{path}./{pattern}/", patterns.get(pattern, True), now_patterns.get(pattern, True), refs
            )

    def _arrays(self, path: str, old: Schema, new: Schema, refs: _Refs) -> Iterator[Breaking]:
        rest, new_rest = old.get("items", True), new.get("items", True)
        first, new_first = old.get("prefixItems", ()), new.get("prefixItems", ())
        for i in range(max(len(first), len(new_first))):
            was = first[i] if i < len(first) else rest
            now = new_first[i] if i < len(new_first) else new_rest
            yield from self.schemas(f"{path}[{i}]", was, now, refs)
        yield from self.schemas(f"{path}[]", rest, new_rest, refs)


def _said(names: frozenset[str] | None) -> str:
    return "any type" if names is None else ", ".join(sorted(names))


def _bound(keyword: str, schema: Schema) -> object:
    exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}.get(keyword, keyword)
    return schema.get(keyword, schema.get(exclusive, "none"))
