"""Words and turns of phrase by which a sentence is known to be no claim, or to be about nothing: closed lists, folded
(`cortex_extraction.folding.fold`). What is not understood is left out by other rules of `claims`."""

from __future__ import annotations

import re
from typing import Final

from cortex_decision import arabic, english

_MONTHS: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS: Final = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SPANS: Final = "week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|fall|autumn"
_VERY: Final = (
    "so|really|very|super|also|too|just|always|still|truly|pretty|totally|completely|definitely|fully|do|don'?t"
)

ASIDE: Final = re.compile(r"\[[^\[\]]*[^\[\]\s][^\[\]]*\]|\*[^*\n]{1,80}\*")
"""Captions and stage directions: nobody said them."""
LEAD: Final = re.compile(
    r"^(?:(?:yeah|yes|yep|yup|no|nope|nah|well|oh|wow|hey|hi|hello|thanks|thank you|thx|cool|great|awesome|nice|sure|"
    r"okay|ok|right|absolutely|definitely|totally|btw|by the way|anyway|also|and|so|but|actually|honestly|"
    r"unfortunately|luckily|fortunately|نعم|لا|اجل|شكرا|مرحبا|اهلا|حسنا|والله)\b(?:[^,.!?؟،:—–-]{0,24}[,!:—–]\s+|،\s+))+",
    re.IGNORECASE,
)
"""How an answer begins before it says something: "Thanks, James! ", "Yeah, "."""
CONNECTIVE: Final = re.compile(
    r"^(?:and|but|so|also|plus|then|because|cause|which|or|yet|though|although|not|similarly|same|instead|otherwise|"
    r"speaking of|likewise|except|و?لكن|لان|ثم|ايضا|بل|ليس)\b"
)
"""A sentence that goes on where another one stopped."""
PROSE: Final = re.compile(r"[{}<>|\\^`~=]|\w\(\)|https?://|::|->|\s{3,}")
"""What prose does not have."""
LAUGHS: Final = re.compile(
    r"\byeah,? right[,.!]|\b(?:lol|lmao|rofl|jk|j/k|(?:ha){2,}h?|(?:he){2,}|"
    r"kidding|joking|joked?|sarcas\w+|pretend\w*|role-?play\w*)\b"
    r"|/s\b|ه{3,}|\b(?:ا?مزح|امازح\w*|بمزح|نكته|مزحه)\b|[😂🤣😜😝😆🙃😏]",
    re.IGNORECASE,
)
TAKEN_BACK: Final = re.compile(
    r"\b(?:scratch that|never ?mind|i was (?:wrong|mistaken|lying)|(?:made|making) (?:that|it) up|not really|"
    r"i take (?:that|it) back|forget what i said|correction|i misspoke|that was a lie|that'?s not true|"
    r"(?:that'?s|that is) (?:a lie|wrong|false))\b|\b(?:كنت مخطيا?|كنت مخطيه|تصحيح|انس ما قلت|هذا غير صحيح)\b"
)

DOUBTS: Final = (
    (english.HEDGES - frozenset("about who which when whenever once did used".split()))
    | english.ADDRESSED
    | frozenset(
        "gonna wanna gotta need needs goal goals aim aiming decide decided deciding ready excited forward upcoming "
        "future wait prefer rather feel feels felt guess idk someone's somebody's everyone's anyone anybody tonight "
        "potential option options idea ideas advice tip tips recommend recommended rumors whatever kinda sorta "
        "sometime someday ever hopefully can won't wouldn't shouldn't mightn't something someone somewhere thinking "
        "eager keen hyped hoped intention intending theoretically hypothetically ideally assuming unsure "
        "somehow supposed believed assumed promise promised promises wondered rumoured rumored theory".split()
    )
)
"""Hedges of the write decision but for those that do no harm in a sentence that is quoted whole, and more of them."""
ARABIC_DOUBTS: Final = (
    arabic.HEDGES - frozenset("كان كانت كانوا كنت كنا عندما حين حينما اليوم هناك احد".split())
    | frozenset(
        "قال قالت قالوا قلت يقول يقولون تقول اخبرني اخبرتني اخبرنا اخبروني حلمت احلم نويت انوي قررت قررنا وعدت وعدني "
        "ارغب زعمت ادعي ادعت اتخيل تخيلت كدت".split()
    )
) | arabic.ADDRESSED
ARABIC_CHATTER: Final = re.compile(r"^(?:اتمني|شكرا|مبروك|الف|مرحبا|اهلا|تحيات|بالتوفيق|يا |ان شاء)")

PHRASES: Final = re.compile(
    r"\b(?:looking forward|can'?t wait|one day|some day|in the future|have to|has to|had to say|set to|about to|"
    r"due to (?:start|open|begin)|on the verge|in theory|next (?:" + _SPANS + "|" + _DAYS + "|" + _MONTHS + ")|"
    r"since (?:we|our|i) (?:last )?(?:talk|chat|spoke|met|conversation|caught up)\w*|since (?:our last|speaking)|"
    r"thanks for|a friend of a friend|word is|people (?:say|think)|they (?:say|said)|according to|"
    r"as (?:he|she|they) put it|not sure|who knows|not saying|in my (?:novel|story|book|game|script|dreams?)|"
    r"my character|alter ego|in character|"
    r"i play an? \w+ in (?:a|an|the) (?:tv |television )?(?:series|show|movie|film|play|sitcom|drama)|"
    r"in (?:a|an|one|two|three|four|five|six|ten|\d+|a few|a couple of|several) (?:days?|weeks?|months?|hours?)|"
    r"(?:i|we) (?:fly|start|leave|move|begin|go|travel|arrive|return|meet|marry|graduate|finish|open|launch|visit|have)"
    r"\b.* (?:on|in|this) (?:" + _DAYS + "|" + _MONTHS + r"))\b"
    r"|, (?:do|does|did|is|are|am|was|were|have|has|had)(?:n'?t)? (?:i|we|it|he|she|they|you)[.!]?$"
)
FUTURE: Final = re.compile(
    r"\b(?:i'?m|i am|we'?re|we are) (?:\w+ly |also |now )?"
    r"(?:starting|going|getting|visiting|leaving|moving|flying|travel+ing|having|hosting|opening|launching|meeting|"
    r"taking|heading|joining|attending|performing|participating|organi[sz]ing|throwing|doing|driving|seeing|buying|"
    r"selling|publishing|releasing)\b.*"
    r"\b(?:tomorrow|tonight|next|later|soon|upcoming|"
    r"in (?:a|an|two|three|four|five|\d+|a few|a couple of) (?:days?|weeks?|months?|years?|hours?)|"
    r"(?:on|in|this) (?:coming |" + _SPANS + "|" + _MONTHS + "|" + _DAYS + "))"
    r"|\b(?:i'?m|i am|we'?re|we are|(?:my|our) \w+ is) (?:\w+ly |also |now )?"
    r"(?:moving|flying|leaving|getting married|relocating|emigrating|expecting)\b"
    r"|\b(?:i am|i'?m|we are|we'?re) to (?!me\b|us\b|the\b|an?\b|my\b|our\b)\w+"
    r"|\bbooked\b.* for (?:next|this|" + _MONTHS + "|" + _DAYS + r")\b"
    r"|\b(?:leaves|departs|arrives|takes off|lands)\b.* (?:on|at|in) (?:" + _DAYS + "|" + _MONTHS + r")\b"
    r"|\b(?:من المقرر|المقبل|المقبله|القادم|القادمه)\b"
)
"""The present that means a day to come."""
LABEL: Final = re.compile(r"^[^\W\d_]+(?: [^\W\d_]+)?: ")
"""Who speaks in a text that somebody pasted."""
HEARSAY: Final = re.compile(
    r"^(?:per|as per|according to) "
    r"|^(?:as )?[\w' ]{1,30} (?:puts? it|always says?|"
    r"insists?|swears?|assumes?|mentions?|mentioned|(?:is|are) convinced|"
    r"keeps? (?:telling|saying)|warns|warned|assures|assured|quotes?|quoted) (?!about\b)"
    r"|\b(?:read|saw|seen|learned|learnt) (?:somewhere |online |on \w+ |in the \w+ )?that\b"
    r"|\bas the (?:song|saying|story|joke) goes\b"
    r"|^(?:تقول|كما|حسب|بحسب|وفقا|نقلا|علي حد|علي لسان|ذكر|ذكرت|اكد|اكدت|صرح|صرحت|اعلن|اعلنت|يدعي|تدعي|يزعم|تزعم|يوكد|"
    r"توكد|اقسم|اقسمت)\b"
    r"|\b(?:حسب|بحسب|وفقا ل\w+|نقلا عن|علي حد قول|كما (?:قال|قالت|يقول|تقول|ذكر))\b"
)
"""Whose words they are."""
_STAGES: Final = (
    r"(?:the|a|an|our|this) (?:\w+ )?(?:play|game|movie|film|series|show|novel|story|musical|sitcom|comic|sketch|skit)"
)
UNREAL: Final = re.compile(
    r"\b(?:had i (?:known|been|had|seen)|came close to|came near|fail(?:s|ed)? to|dreamt|dreamed|lied|lying to|"
    r"for example|for instance|either\b.* or|weighs? a ton|ate a horse|a million times)\b"
    r"|\bin " + _STAGES + r"\b.* (?:i|we) (?:am|was|are|were|own|have|had|live|play|work|rule)"
    r"|\b(?:i|we) (?:am|was|are|were|play|played) an? [\w ]{2,30} in " + _STAGES + r"\b"
    r"|^as if\b|^i'?m starving\b|, right[.!]?$|, (?:i wish|not)[.!]?$"
    r"|^(?:once|when|whenever|after|until|as soon as) (?:i|we) (?!was\b|were\b|had\b|did\b|got\b|\w+ed\b)\w+\b.*"
    r" (?:is|am|are|will)\b"
    r"|في (?:الحلم|المنام|المسلسل|الفيلم|المسرحيه|اللعبه|الروايه|القصه)\b|\b(?:كذبت|كذبنا|يكذب)\b"
    r"|(?:لست|لسنا|غير|مش) (?:متاكد|متاكده|متاكدا|واثق|واثقه|واثقا)\b"
)
"""Dreams, roles, lies, exaggeration and what did not come to pass."""
CHATTER: Final = re.compile(
    r"^(?:(?:i'?m|i am|we'?re|i was) (?:(?:" + _VERY + ") )*"
    r"(?:glad|happy (?:for|to|that)|sorry|proud of|excited|thankful|grateful|here (?:for|to)|sure|curious|stoked|"
    r"thrilled|pumped|with|down|good|fine|great|okay|ok|doing (?:well|good|great|okay|ok|fine)|in\b|all ears|"
    r"interested|impressed|amazed|honored|rooting|lucky|blessed|listening|intrigued|relieved)"
    r"|i (?:(?:" + _VERY + "|can'?t|couldn'?t) )*"
    r"(?:agree|disagree|understand|appreciate|get it|get that|get what|see|know|mean|bet|imagine|relate|remember|feel|"
    r"love (?:it|that|this|how|seeing|the)|like (?:it|that|this|how)|adore (?:it|that|this)|thank|promise|admire|"
    r"congratulate|owe|miss)"
    r"|my (?:pleasure|bad|thoughts|heart|fingers|condolences|mistake)"
    r"|(?:(?:" + _VERY + ") )*(?:glad|happy|sorry|proud|excited|thankful|grateful|stoked|thrilled|pumped|looking)"
    r"|(?:reminds|sounds|looks|makes|feels|gives|helps|takes|gets|seems|means|brings|keeps|shows|goes|works|turns|"
    r"tastes|been ages|been a)"
    r"|(?:lots|much|nothing|everything|all|here'?s?|check out|take a look|look at|have a look|as for|same) "
    r"|let me|let us|let'?s|thank|thanks|congrat|good luck|no (?:problem|worries|way|doubt))\b"
)
"""How people show that they listen and how they are."""

POINTS: Final = frozenset(
    "it it's its it'd it'll this that that's these those they they're they've them their theirs he he's she she's him "
    "his her hers there's here's such ones".split()
) | frozenset("هذا هذه ذلك تلك هناك هنا هو هي هم هما اولئك ذاك كذلك ايضا نفسه نفسها".split())
"""Words that point at something said elsewhere, unless enough was said before them."""
MIDWAY: Final = frozenset("such other that".split())
"""Of these only at the beginning; later in a sentence they mostly belong to it."""
OWNERS: Final = frozenset("his her their its hers theirs".split())
THEY: Final = frozenset("they they're they've them their theirs".split())
SHE: Final = frozenset("he he's she she's him his her hers".split())
PERSONS: Final = frozenset(
    "mom mum mother mama dad father papa sister brother wife husband son daughter friend girlfriend boyfriend partner "
    "boss doctor teacher professor grandma grandmother grandpa grandfather aunt uncle cousin neighbor neighbour "
    "colleague coworker roommate manager coach dog cat puppy kitten nephew niece baby kid child boy girl man woman "
    "spouse fiance fiancee mentor student client customer".split()
)
"""Whom "he" and "she" may mean."""
MANY: Final = frozenset("people family parents team children kids folks police couple band and".split())
"""Whom "they" may mean beside a plural."""
POINTING: Final = re.compile(
    r"\b(?:this|these|those)\b(?! (?:past |last |very |current )?(?:" + _SPANS + "|" + _MONTHS + "|" + _DAYS + r")\b)"
    r"|\bthat\b(?:[,.;:!]|$)"
    r"|\b(?:\w+ed|took|made|got|did|bought|saw|found|wrote|drew|built|read|love|like|enjoy|do|see|use|picked|in|on|at|"
    r"of|for|from|with|after) that\b"
    r"|\b(?:it|them|him|her|there|here|one|ones|so|too|either)[\"'”’)]*[.!;…]*$"
    r"|\bhere\b(?! in\b)|\bthere\b(?! (?:is|are|was|were|has|have|had)\b)"
    r"|\b(?:\w+ed|took|made|got|did|bought|saw|found|have|had|like|love|own|use|tried|want|see|another|"
    r"the other) ones?\b(?! (?:of|day|week|month|year|hour|time))|\bthe (?:former|latter|same|above|following)\b"
)
"""What is pointed at stands outside of the sentence, or was seen."""

FIRST_PERSON: Final = frozenset("i i'm i've i'd i'll my me mine myself we we're we've our ours us انا نحن".split())
SUBJECTS: Final = frozenset("i i'm i've my we we're we've our انا نحن".split())

BEING: Final = frozenset(
    "is are was were has had been became went came made got sent held kept left built paid sold".split()
)
IMPERATIVES: Final = (
    english.STATIVES
    | frozenset(
        "ask add make check remember note see do don't never always please remind todo fix update tell give get let "
        "find try call change remove delete create ensure avoid consider review follow install".split()
    )
) - {"cost", "have", "is"}
"""With which a note asks for something instead of saying how it is."""

TOPICLESS: Final = frozenset(
    "last next week weeks weekend weekends month months year years day days today yesterday ago lately recently "
    "morning evening night afternoon time times while since moment start started starting begin began got get getting "
    "go going gone went come came back make makes made making take took taking give gave just really lot lots bit few "
    "new old great good awesome amazing nice cool fun best better big huge little small love loved loving like liked "
    "enjoy enjoyed favorite favourite thing things stuff way ways help helps helped find found keep kept keeps try "
    "tried trying do did doing done look looked looking see saw seen show showed put set use used using work worked "
    "works feel finally always often sometimes usually already still even too also definitely totally currently super "
    "pretty so life people person experience amazing incredible beautiful wonderful exciting special important "
    "different same happy hard tough long short high low part place places first one two three four five monday "
    "tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december news share shared sharing talk talked talking spend spent turn turned became become "
    "getting having met meet meeting together اليوم امس غدا الاسبوع الشهر السنه العام الماضي الماضيه قبل بعد جديد "
    "جديده كبير جميل رايع جدا كثيرا شيء اشياء وقت مره بدات بدا صباح مساء".split()
)
"""Words that two statements may share without being about one thing."""
