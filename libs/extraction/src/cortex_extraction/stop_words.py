"""Words that name nothing by themselves, in the folded spelling of `folding`."""

from __future__ import annotations

from typing import Final

STOP_WORDS: Final = frozenset(
    """a an the and or but if so as at by for from in into of on onto out over to up with about after
    before between during i i'm i've i'd i'll me my mine we us our ours you your yours he him his she
    her hers it its it's they them their theirs is am are was were be been being do does did done doing
    have has had having can could will would shall should may might must this that these those there
    here what which who whom whose when where why how what's who's where's how's that's there's let's
    don't didn't doesn't isn't wasn't can't won't not no yes any some all each every both either neither
    other another such same than then too very just also only more most less least much many few now
    ever never again s t re ve ll d m tell said say says know think get got go went ok okay في من الي
    علي عن مع ما ماذا متي اين كيف كم هل هو هي هم هن انا انت نحن هذا هذه ذلك تلك التي الذي الذين اللذان و
    ف ب ل ك او ام ثم ان لا لم لن ليس كان كانت يكون قد كل بعض غير بين حتي منذ قبل بعد عند عندما لدي اذا
    لو لكن لماذا من مين ايه فيه فيها به بها له لها عنه عنها عليه عليها اي ايضا يا قال قالت""".split()
)
"""They are no entity and begin and end none."""
OPENERS: Final = STOP_WORDS | frozenset(
    """alright besides bet btw whenever wherever sometimes hi hey hello hiya thanks thank bye goodbye wow
    yeah yep yup nope sure well oh ah aw aww haha lol cool great nice good awesome amazing absolutely
    definitely totally really sounds glad congrats congratulations sorry please maybe perhaps however
    meanwhile although though because since while until unless once still yet even first second next
    last finally today yesterday tomorrow note see use add make take keep remember dear welcome happy
    love i'm""".split()
)
"""Words that no capital makes a name, as they begin sentences and stand before names ("Hey Caroline")."""
