"""Fifty questions that no personal conversation and no encyclopaedia paragraph of the benches answers.

They show what the floor of recall keeps out. `clear`: another domain altogether; `arabic`: the same in Arabic;
`nonsense`: words and strings that mean nothing; `near`: the everyday domain of the conversations, about something that
nobody said (these are reported, not required to be empty: some memory is always a little about it).
"""

from __future__ import annotations

from typing import Final

OFF_TOPIC: Final[tuple[tuple[str, str], ...]] = (
    ("sourdough starter hydration", "clear"),
    ("How long should croissant dough rest between folds?", "clear"),
    ("Which herbs go into a classic bouquet garni?", "clear"),
    ("What temperature does sugar caramelise at?", "clear"),
    ("Why does the kubelet evict pods under disk pressure?", "clear"),
    ("How do I rebase a feature branch without losing merge commits?", "clear"),
    ("PostgreSQL autovacuum freeze max age setting", "clear"),
    ("What is the default port of the message broker's cluster route?", "clear"),
    ("TLS certificate rotation for the ingress controller", "clear"),
    ("Which compiler flag turns on link-time optimisation?", "clear"),
    ("How many moles of oxygen are in 36 grams of water?", "clear"),
    ("What is the eccentricity of the orbit of Mercury?", "clear"),
    ("Proof that the square root of two is irrational", "clear"),
    ("How does a lithium iron phosphate cell age?", "clear"),
    ("What torque do the cylinder head bolts need?", "clear"),
    ("Depreciation schedule for leased office equipment", "clear"),
    ("What is the withholding tax on cross-border dividends?", "clear"),
    ("Who may sign an amendment of the shareholders' agreement?", "clear"),
    ("Contraindications of warfarin with antifungals", "clear"),
    ("How is a tibial plateau fracture classified?", "clear"),
    ("Which knot holds best on wet polypropylene rope?", "clear"),
    ("When was the last eruption of Krakatoa?", "clear"),
    ("How do bees communicate the direction of nectar?", "clear"),
    ("What is the difference between a fugue and a canon?", "clear"),
    ("كيف أحضر خميرة العجين في المنزل؟", "arabic"),
    ("ما هي درجة انصهار النحاس؟", "arabic"),
    ("كيف أغير كلمة مرور قاعدة البيانات؟", "arabic"),
    ("ما هي أعراض نقص فيتامين د عند الأطفال؟", "arabic"),
    ("كم تبلغ المسافة بين الأرض والقمر؟", "arabic"),
    ("شروط تجديد رخصة القيادة", "arabic"),
    ("متى يجب تغيير زيت المحرك؟", "arabic"),
    ("ما الفرق بين الأسهم والسندات؟", "arabic"),
    ("طريقة تركيب مكيف الهواء", "arabic"),
    ("أفضل وقت لزراعة أشجار الزيتون", "arabic"),
    ("qwxz vbnrt plokmij", "nonsense"),
    ("asdf jkl; asdf jkl;", "nonsense"),
    ("blorptag frumious snerkle vandible", "nonsense"),
    ("xkcd9931-zz-00017", "nonsense"),
    ("0x7ffee4a1c0d8 0xdeadbeef", "nonsense"),
    ("ضصثقفغ خحجدط شسيبلا", "nonsense"),
    ("the of and to in", "nonsense"),
    ("????!!! ...", "nonsense"),
    ("What did the neighbours say about the broken chimney?", "near"),
    ("Which airline lost the luggage on the flight to Oslo?", "near"),
    ("When is the dentist appointment for the wisdom tooth?", "near"),
    ("How much did the second-hand motorcycle cost?", "near"),
    ("Who is going to be the best man at the wedding in Lisbon?", "near"),
    ("What was wrong with the washing machine?", "near"),
    ("Which kindergarten did the twins get a place in?", "near"),
    ("What is the name of the parrot that grandfather kept?", "near"),
)
"""(question, kind)"""
