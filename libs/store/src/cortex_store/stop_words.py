"""Stop words: words that say how one asks and not what about, English and Arabic."""

from __future__ import annotations

from typing import Final

ENGLISH: Final = (
    "a about above after again against all also am an and any are as at be because been before being below between "
    "both but by can cannot could did do does doing don down during each else ever few for from further had has have "
    "having he her here hers herself him himself his how i if in into is it its itself just let may me might more "
    "most must my myself no nor not of off on once only or other ought our ours ourselves out over own same shall she "
    "should so some such than that the their theirs them themselves then there these they this those through to too "
    "under until up upon us very was we were what when where whether which while who whom whose why will with would "
    "yes you your yours yourself yourselves "
    # What is left of contractions when their apostrophe separates: it's, don't, I'd, we'll, I'm, they're, I've.
    "s t d ll m re ve didn doesn isn wasn aren weren hasn haven hadn won wouldn couldn shouldn"
)
ARABIC: Final = (
    "من ما ماذا متى أين كيف لماذا هل في على إلى عن مع هو هي هم هن هما أنا نحن أنت أنتم هذا هذه هذان هؤلاء ذلك تلك "
    "أولئك هنا هناك التي الذي الذين اللذان اللتان اللواتي و أو أم ثم بل لكن كان كانت كانوا يكون تكون ليس ليست كم أي "
    "أية لم لن لا قد أن إن أنه إنه أنها إنها أنهم إذا إذ لو كل بعض غير سوى حتى منذ عند عندما حيث بين بعد قبل خلال ضد "
    "حول دون فوق تحت به بها بهم له لها لهم لنا لك لي فيه فيها فيهم منه منها منهم عنه عنها عليه عليها عليهم إليه إليها "
    "معه معها كما كذلك مثل أيضا فقط جدا لأن لكي كي بأن مما عما فيما بما لما ولا ومن وما وفي وعلى وهو وهي وكان وكانت "
    "وقد ولم وأن وإن التى الى الي او اي انه انها ان هذة يا سوف يمكن تم"
)
