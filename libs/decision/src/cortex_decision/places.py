"""Places: what can be one's home, and which two places exclude each other.

Who lives in Berlin lives in Germany as well, and what is hosted by a carrier stands in a city: two places contradict
each other only when they are of one sort.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cortex_decision import english
from cortex_decision.clauses import lemma

_AREAS: Final = frozenset(
    map(
        lemma,
        "afghanistan albania algeria argentina armenia australia austria azerbaijan bahrain bangladesh belarus belgium "
        "bolivia bosnia brazil bulgaria cambodia cameroon canada chile china colombia croatia cuba cyprus czechia "
        "denmark ecuador egypt england estonia ethiopia finland france georgia germany ghana greece hungary iceland "
        "india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kuwait latvia lebanon "
        "libya lithuania malaysia mali malta mauritania mexico moldova mongolia morocco mozambique myanmar nepal "
        "netherlands nigeria norway oman pakistan palestine panama paraguay peru philippines poland portugal qatar "
        "romania russia rwanda scotland senegal serbia slovakia slovenia somalia spain sudan sweden switzerland syria "
        "taiwan tanzania thailand tunisia turkey uae uganda uk ukraine uruguay us usa uzbekistan venezuela vietnam "
        "wales yemen zambia zimbabwe africa asia europe eu emea apac mena gcc america emirates kingdom states arabia "
        "korea zealand bavaria california texas catalonia "
        "مصر السعوديه العراق سوريا لبنان الاردن فلسطين اليمن عمان الامارات قطر الكويت البحرين ليبيا تونس الجزاير "
        "المغرب السودان موريتانيا الصومال تركيا ايران المانيا فرنسا بريطانيا انجلترا اسبانيا ايطاليا هولندا "
        "بلجيكا النمسا سويسرا السويد النرويج الدنمارك بولندا روسيا اوكرانيا الصين اليابان الهند باكستان ماليزيا "
        "اندونيسيا كندا امريكا البرازيل المكسيك اوروبا اسيا افريقيا الخليج".split(),
    )
)
"""Areas that have cities."""
_CARRIERS: Final = frozenset(
    map(
        lemma,
        "aws azure gcp ec2 eks gke hetzner ovh heroku digitalocean linode cloudflare vercel netlify s3".split(),
    )
)
_LAYERS: Final = frozenset(
    map(lemma, "kubernetes k8s docker nomad linux debian ubuntu vmware proxmox openstack windows".split())
)
_NO_HOME: Final = (
    english.DAYS
    | english.MONTHS
    | frozenset(
        map(
            lemma,
            "mode tier plan table desk room floor terminal office building seat team product design marketing sales "
            "engineering finance legal support operations management love trouble fear mourning charge windows linux "
            "macos android ios ubuntu debian fedora postgres postgresql mysql redis kubernetes docker aws azure gcp "
            "python rust java typescript github gitlab slack teams notion vim emacs position bed phase stage step "
            "version chapter platform infra infrastructure security devops qa hr ops compliance research growth "
            "backend frontend mobile kotlin swift scala elixir ruby php haskell zig".split(),
        )
    )
    | frozenset("لينكس ويندوز ماك اندرويد بايثون دوكر كوبرنيتيس فريق قسم اداره طابق غرفه".split())
)
"""What is no home, though one moves to it: another desk, department, day, or tool."""


def habitable(words: Sequence[str]) -> bool:
    """Whether somebody can live there, as far as digits, a possession ("Bill's table") and a list tell."""
    numbered = any(char.isdigit() for word in words for char in word)
    return not numbered and "'s" not in words and not set(words) & _NO_HOME


def excluding(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether nothing can be at both places: an area holds cities, a city data centres and rooms."""
    return _sort(one) == _sort(other)


def _sort(words: Sequence[str]) -> str:
    if set(words) & _AREAS:
        return "area"
    if set(words) & _CARRIERS:
        return "carrier"
    if set(words) & _LAYERS:
        return "layer"
    if set(words) & _NO_HOME:
        return "unit"
    return "numbered" if any(word.isdecimal() for word in words) else "site"
