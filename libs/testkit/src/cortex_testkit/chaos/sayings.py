"""What is said: sentences in two languages that are each said for the first time, told apart by a tag."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from cortex_contracts.messages.memory import MemoryDraft, Visibility

SEASONS: Final = 9
"""Times at which things were said, the latest now: of what is as important as a chat turn most is due, some is not."""
SEASON: Final = timedelta(days=160)
FESTIVAL_S: Final = 5 * 86_400
"""How long a season talks: the cold tier has files of one month each, so there are few months."""
PRIVATE: Final = 0.12
NAMES: Final = ("Salma", "Jonas", "Mona", "Karim", "Ada", "Youssef")
ARABIC_NAMES: Final = ("سلمى", "يونس", "منى", "كريم", "هدى", "يوسف")
OWNERS: Final = ("agent-nora", "agent-omar")
STRANGER: Final = "agent-stranger"
"""Owns nothing, so sees nothing private."""

_ENGLISH: Final = (
    "{name} found the kite {tag} on the roof of the old boathouse.",
    "The crane {tag} was serviced by {name} before the storm.",
    "{name} painted mural {tag} in the stairwell of the library.",
    "Parcel {tag} went to {name} by the night train.",
    "{name} baked rye bread after recipe {tag} for the harbour festival.",
)
_ARABIC: Final = (
    "وصلت الشحنة {tag} إلى المستودع ووقّع عليها {name}.",
    "أصلح {name} الساعة {tag} في ورشة الميناء القديم.",
    "كتب {name} الرسالة {tag} وتركها عند باب المكتبة.",
)
_OWN: Final = (
    "I planted {crop} in the garden bed {tag} behind the mill.",
    "I watered the {crop} of garden bed {tag} before sunrise.",
    "I sold the first {crop} from garden bed {tag} at the market.",
)
"""Said by somebody about one thing of theirs: what facts are made of."""
_CROPS: Final = ("tomatoes", "lentils", "peppers", "melons", "radishes")

DISTINCT: Final = (
    ("The lighthouse keeper feeds stale bread to the gulls at dawn.", "seabirds getting food early in the morning"),
    (
        "Our violin teacher retired and moved to a vineyard in Tuscany.",
        "our music instructor now lives in Italy among grapes",
    ),
    ("A tram derailed near the opera and nobody was hurt.", "a streetcar accident without injuries by the theatre"),
    ("Grandmother knitted a blue scarf for the newborn twins.", "handmade wool clothing for two babies"),
    (
        "A fox dug a den beneath the abandoned railway platform.",
        "a wild animal made its home under the old train station",
    ),
    ("The marathon was postponed since the bridge is under repair.", "running race delayed by construction"),
    ("انقطع التيار الكهربائي عن المستشفى أثناء العملية الجراحية.", "مشكلة في الطاقة لدى الأطباء وقت الجراحة"),
    ("زرع الفلاح أشجار الزيتون على سفح الجبل.", "مزارع غرس شجر الزيت في المرتفعات"),
    ("تأخرت الطائرة بسبب عاصفة رملية قوية.", "رحلة جوية لم تقلع في موعدها لسوء الطقس"),
    ("اشترى الطالب قاموسا قديما من سوق الكتب المستعملة.", "شراء معجم عتيق من بائع كتب"),
)
"""What is found by meaning: a sentence, and what asks for it in other words."""


@dataclass(frozen=True)
class Saying:
    """One statement as it is sent; `ref` is its own, whatever it repeats. `subject`: who says it to Cortex, and owns
    it; `asks`: other words for it."""

    ref: str
    namespace: str
    content: str
    subject: str
    at: datetime
    source_kind: str
    visibility: Visibility = Visibility.TEAM
    speaker: str | None = None
    session: str | None = None
    turn: int | None = None
    explicit: bool = False
    asks: str = ""

    def draft(self) -> MemoryDraft:
        """As retain takes it."""
        return MemoryDraft(
            namespace=self.namespace,
            content=self.content,
            source_kind=self.source_kind,
            source_ref=self.ref,
            session=self.session,
            turn=self.turn,
            speaker=self.speaker,
            occurred_at=self.at,
            visibility=self.visibility,
            explicit=self.explicit,
        )


class Speech:
    """Says one thing after the other: with the same `rng` the same. `name` begins every ref."""

    def __init__(self, name: str, rng: random.Random, namespaces: Sequence[str], source_kind: str = "chat") -> None:
        self._rng = rng
        self._name = name
        self._namespaces = namespaces
        self._kind = source_kind
        self._count = 0
        self._began = datetime.now(UTC).replace(microsecond=0)

    def _ref(self) -> str:
        self._count += 1
        return f"{self._name}-{self._count:06}"

    def new(self) -> Saying:
        """Something that nobody said before."""
        rng, ref = self._rng, self._ref()
        tag = ref.replace("-", "").upper()
        if rng.random() < 0.25:
            content = rng.choice(_OWN).format(crop=rng.choice(_CROPS), tag=f"B{rng.randrange(30)}")
            content = f"{content[:-1]}, ticket {tag}."
            speaker = rng.choice(NAMES)
        elif rng.random() < 0.35:
            content, speaker = rng.choice(_ARABIC).format(name=rng.choice(ARABIC_NAMES), tag=tag), rng.choice(NAMES)
        else:
            content, speaker = rng.choice(_ENGLISH).format(name=rng.choice(NAMES), tag=tag), rng.choice(NAMES)
        return self._said(ref, content, speaker)

    def distinct(self, number: int) -> Saying:
        """The `number`-th of DISTINCT, said long ago."""
        content, asks = DISTINCT[number % len(DISTINCT)]
        namespace = self._namespaces[number % len(self._namespaces)]
        at = self._began - timedelta(days=900 + number)
        return Saying(self._ref(), namespace, content, OWNERS[0], at, self._kind, speaker=NAMES[0], asks=asks)

    def again(self, said: Saying) -> Saying:
        """The same, said once more, a little later."""
        later = said.at + timedelta(hours=self._rng.uniform(1, 200))
        return Saying(
            self._ref(),
            said.namespace,
            said.content,
            said.subject,
            min(later, self._began),
            self._kind,
            said.visibility,
            said.speaker,
        )

    def values(self, count: int) -> list[Saying]:
        """One value that is corrected again and again, in the order of time."""
        first, rng = self._ref(), self._rng
        tag = first.replace("-", "").upper()
        namespace, subject = rng.choice(self._namespaces), rng.choice(OWNERS)
        at, chain = self._began - timedelta(days=rng.uniform(300, 900)), []
        for number in range(count):
            content = f"The retry limit of pump {tag} is {3 + number}."
            ref = first if number == 0 else self._ref()
            chain.append(Saying(ref, namespace, content, subject, at + timedelta(days=number), self._kind))
        return chain

    def _said(self, ref: str, content: str, speaker: str) -> Saying:
        rng = self._rng
        ago = rng.randrange(SEASONS) * SEASON + timedelta(seconds=rng.randrange(FESTIVAL_S))
        return Saying(
            ref,
            rng.choice(self._namespaces),
            content,
            rng.choice(OWNERS),
            self._began - ago,
            self._kind,
            Visibility.PRIVATE if rng.random() < PRIVATE else Visibility.TEAM,
            speaker,
            session=f"{self._name}-{self._count // 20}",
            turn=self._count % 20,
            explicit=rng.random() < 0.1,
        )
