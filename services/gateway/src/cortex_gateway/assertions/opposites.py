"""Opposites: words of which only one can be true of a thing at a time, as `states` adds them to its axes.

Each line has the words of one side, a stroke, and those of the other. A word that `states` places itself keeps its
place, and takes the rest of its line along. Compiled for this project from general knowledge of both languages.
"""

from __future__ import annotations

from typing import Final

STATES: Final = """
plugged_in plugged / unplugged
leaking leaky dripping / leakproof watertight airtight
burnt_out burned_out blown / lit
drained emptied / full topped_up
jammed blocked_up stuck clogged_up / unblocked unjammed
in_use / out_of_use
accepting_connections / refusing_connections
caught_up in_sync / lagging lagging_behind falling_behind
back_at_work at_work back_in_the_office / on_vacation on_holiday on_leave off_sick on_sick_leave
damaged cracked corrupted corrupt torn / undamaged intact unbroken flawless
paved tarred asphalted / unpaved
insured / uninsured
licensed / unlicensed
registered / unregistered deregistered
certified accredited / uncertified
tested / untested
documented / undocumented
monitored / unmonitored
protected / unprotected
guarded / unguarded
staffed manned / unstaffed unmanned
inhabited / uninhabited
populated / unpopulated deserted
sealed / unsealed
labelled labeled / unlabelled unlabeled
numbered / unnumbered
sorted / unsorted
filtered / unfiltered
compressed zipped / uncompressed
indexed / unindexed
cached / uncached
shared / unshared exclusive
restricted / unrestricted
limited capped / unlimited uncapped
funded / unfunded
sponsored / unsponsored
taxed taxable / untaxed tax-free tax_free duty-free
refundable / non-refundable nonrefundable
renewable / non-renewable nonrenewable
reversible / irreversible
removable detachable / non-removable built-in built_in
replaceable / irreplaceable
reusable / disposable single-use single_use
recyclable / non-recyclable
rechargeable / non-rechargeable
washable / non-washable
flammable combustible / non-flammable fireproof
waterproof water-resistant / permeable
soluble / insoluble
edible / inedible
drinkable potable / undrinkable
readable legible / unreadable illegible
audible / inaudible
accessible / inaccessible
usable / unusable
feasible doable / infeasible unfeasible
reachable / unreachable
reliable dependable / unreliable
predictable / unpredictable
acceptable / unacceptable
tolerable / intolerable
adequate sufficient enough / inadequate insufficient
suitable appropriate / unsuitable inappropriate
necessary / unnecessary needless
important / unimportant
relevant / irrelevant
significant / insignificant negligible
effective / ineffective
efficient / inefficient
competent / incompetent
experienced / inexperienced
qualified / unqualified
eligible / ineligible
familiar / unfamiliar
famous / obscure
popular / unpopular
common / rare uncommon
ordinary / extraordinary
typical / atypical
usual / unusual
consistent / inconsistent
complete / incomplete partial
perfect / imperfect
pure / impure
mature / immature
moral ethical / immoral unethical
honest / dishonest
loyal / disloyal
polite / impolite rude
rational / irrational
logical / illogical
symmetric symmetrical / asymmetric asymmetrical
direct / indirect
deliberate intentional / accidental unintentional unintended
conscious / unconscious
aware / unaware
willing / unwilling reluctant
satisfied pleased / dissatisfied unsatisfied unhappy
comfortable / uncomfortable
pleasant / unpleasant
friendly / unfriendly hostile
helpful / unhelpful
lucky fortunate / unlucky unfortunate
fair / unfair unjust
generous / stingy
brave / cowardly
calm / agitated nervous anxious
tame domesticated / wild feral
fertile / infertile barren
alive living / dead deceased extinct
awake / asleep sleeping
hungry / sated
thirsty / quenched
injured hurt wounded / unhurt uninjured unharmed
ill sick unwell / healthy recovered cured
contagious infectious / non-contagious noncontagious
benign / malignant
acute / chronic
allergic / non-allergic
vaccinated immunised immunized / unvaccinated
blind / sighted
literate / illiterate
solvent / insolvent bankrupt
elected / unelected
armed / unarmed
dressed clothed / undressed naked
shaved clean-shaven / bearded unshaven
barefoot / shod
sitting / standing
ascending rising / descending
inbound incoming / outbound outgoing
inward / outward
forward / backward reverse
clockwise / counterclockwise anticlockwise counter-clockwise
upstairs / downstairs
uphill / downhill
upstream / downstream
onshore / offshore
overground above-ground / underground
northern / southern
eastern / western
northbound / southbound
eastbound / westbound
domestic / international foreign
local / remote
central centralised centralized / decentralised decentralized distributed
supervised / unsupervised
guided / self-guided
accompanied / unaccompanied
single-tenant single_tenant / multi-tenant multi_tenant
single-threaded single_threaded / multi-threaded multithreaded
blocking / non-blocking nonblocking
buffered / unbuffered
bidirectional two-way / unidirectional one-way
wired / wireless cordless
analog analogue / digital
corded / battery-powered battery_powered cordless
serverless / server-based
monolithic / modular
static / dynamic
statically_typed / dynamically_typed untyped
compiled / interpreted
mutable / immutable
nullable / non-nullable
relational / non-relational
structured / unstructured
synchronised synchronized / unsynchronised unsynchronized out_of_sync
aligned / misaligned unaligned
calibrated / uncalibrated
balanced / unbalanced
grounded earthed / ungrounded
insulated / uninsulated
shielded / unshielded
pressurised pressurized / depressurised depressurized unpressurised
inflated / deflated
folded / unfolded
wrapped / unwrapped
packed / unpacked
tied / untied
buttoned / unbuttoned
fastened / unfastened
bolted / unbolted
screwed_on / unscrewed
glued / unglued
zipped_up / unzipped
chained / unchained
fenced / unfenced
walled / unwalled
roofed / roofless
painted / unpainted
varnished / unvarnished
polished / unpolished
ironed / unironed creased wrinkled
washed / unwashed
swept / unswept
ripe / unripe
fresh / spoiled spoilt rotten mouldy moldy
frozen / thawed defrosted
boiled / unboiled
salted salty / unsalted
sweetened / unsweetened sugar-free sugar_free
peeled / unpeeled
sliced / unsliced
leavened / unleavened
pasteurised pasteurized / unpasteurised unpasteurized
organic / non-organic
gluten-free gluten_free / gluten-containing
alcoholic / non-alcoholic nonalcoholic alcohol-free
caffeinated / decaffeinated decaf caffeine-free
vegetarian / meat-based
spicy / mild
greasy fatty / lean fat-free low-fat
fizzy sparkling carbonated / still_water uncarbonated
cloudy overcast / cloudless
windy / windless
foggy / fog-free
humid damp moist / arid
warm / cool chilly
bright / dim
polluted contaminated / unpolluted uncontaminated
crowded packed_full / uncrowded
cluttered messy untidy / tidy uncluttered
organised organized / disorganised disorganized unorganized
announced / unannounced
invited / uninvited
welcome / unwelcome
noticed / unnoticed
recorded taped / unrecorded
disclosed revealed / undisclosed secret
identified / unidentified
proven / unproven disproved disproven
confirmed / unconfirmed
justified / unjustified
authenticated / unauthenticated
trusted / untrusted
blacklisted blocklisted / whitelisted allowlisted
muted / unmuted
starred / unstarred
followed / unfollowed
subscribed / unsubscribed
staged / unstaged
tracked / untracked
tagged / untagged
versioned / unversioned
patched / unpatched
masked / unmasked
escaped / unescaped
sanitised sanitized / unsanitised unsanitized
partitioned / unpartitioned
sharded / unsharded
replicated / unreplicated
clustered / standalone
containerised containerized dockerized / bare-metal bare_metal
virtualised virtualized / non-virtualized
managed_service / self-managed
prepaid / postpaid
salaried / unsalaried
furnished / unfurnished
leased / owner-occupied
detached / semi-detached terraced
sold / unsold
reduced_price discounted / full-price
fixed-term fixed_term / open-ended open_ended
negotiable / non-negotiable
binding / non-binding nonbinding
enforceable / unenforceable
transferable / non-transferable
exempt / liable
billable / non-billable
deductible / non-deductible
reimbursed refunded / unreimbursed unrefunded
audited / unaudited
contested disputed / uncontested undisputed
postponed deferred rescheduled adjourned / on_time
going_ahead on_as_planned happening_as_planned / called_off cancelled canceled
provisional tentative preliminary interim / final definitive
solved / unsolved
acknowledged / unacknowledged
fulfilled / unfulfilled
triaged / untriaged
estimated / unestimated
blocked / unblocked
reproducible / irreproducible unreproducible
deterministic / non-deterministic nondeterministic
idempotent / non-idempotent
thread-safe thread_safe / thread-unsafe
backward-compatible backwards-compatible backward_compatible / breaking
youngest / eldest oldest
smallest / biggest largest
shortest / longest tallest
cheapest / priciest dearest
fastest / slowest
best / worst
highest / lowest
nearest closest / farthest furthest
richest / poorest
strongest / weakest
warmest hottest / coldest coolest
lightest / heaviest
younger / older elder
taller longer / shorter
faster quicker / slower
cheaper / dearer pricier
larger bigger / smaller
heavier / lighter
warmer hotter / colder cooler
higher / lower
brighter / darker
louder / quieter
stronger / weaker
better / worse
left-handed left_handed / right-handed right_handed
introverted / extroverted extraverted
nocturnal / diurnal
deciduous / evergreen
carnivorous / herbivorous
right-to-left rtl / left-to-right ltr
uppercase / lowercase
singular / plural
portrait / landscape
two-sided double-sided / one-sided single-sided
monochrome black_and_white / full_colour full_color in_colour in_color
matte matt / glossy
rigid stiff / pliable bendable
elastic / inelastic
dense / sparse
coarse / fine-grained
blunt / sharpened
bald / hairy
concave / convex
majority / minority
optimistic / pessimistic
liberal / conservative
guilty / acquitted
convicted / acquitted
jailed imprisoned detained / freed
legalised legalized / outlawed criminalised
licit / illicit
ratified / unratified
in_force / repealed
in_session / in_recess
on_duty / off_duty
in_person / by_video over_video
in_stock / out_of_stock
in_print / out_of_print
in_tune / out_of_tune
in_order / out_of_order
in_warranty under_warranty / out_of_warranty
above_average / below_average
ahead_of_schedule / behind_schedule
at_home / away
logged_in signed_in / logged_out signed_out
checked_in / checked_out
opted_in / opted_out
powered_on / powered_off
turned_up / turned_down
drawn_up / torn_up
let_out / vacant
boarded_up / open
snowed_in / passable
passable / impassable
navigable / unnavigable
habitable / uninhabitable
built_up / undeveloped
electrified / unelectrified
illuminated / unilluminated
signposted / unmarked
"""
ARABIC: Final = """
مفتوح / مغلق
مطلي /
مكيف /
مزدحم مكتظ / خال_من_الناس
مرتب منظم / فوضوي مبعثر
نظيف / ملوث متسخ
طازج / فاسد متعفن
ناضج / فج
مجاني بلا_مقابل بدون_مقابل / مدفوع بمقابل_مادي
يدوي / مؤتمت
متزامن /
مباشر / مسجل
محلي / دولي عالمي اجنبي
داخلي / خارجي
قانوني مشروع / محظور
شرعي /
صالح_للشرب /
صالح / تالف
سليم / مكسور متضرر معطوب
جديد / مستعمل
حديث / عتيق
قوي / هش
صلب قاس / لين طري
غني ثري / فقير
مسرور / حزين
راض / ساخط مستاء
شجاع / جبان
هادي / مضطرب
ذكي / غبي
سمين بدين / نحيف
طويل_القامه / قصير_القامه
متعلم / امي
موظف_حاليا / عاطل
مستاجر / مملوك
مؤجر / شاغر
مباع / معروض_للبيع
مطور / قيد_التطوير
مكتمل تام / ناقص
نهايي / مبدئي اولي تمهيدي
رييسي اساسي / ثانوي فرعي
مشترك / منفرد
جماعي / فردي
مركزي / لامركزي
كاف /
مناسب ملائم /
فعال /
مجد / عديم_الجدوي
مربوط موصول / مفصول
مشحون / فارغ
مملوء معبا / فارغ
معبد / ترابي
مسجل_رسميا /
مرخص /
مؤمن_عليه /
محمي / مكشوف
موثق /
معلن / سري
مستقر / متقلب
ثابت / متحرك
افقي / عمودي
امامي / خلفي
علوي / سفلي
ايمن / ايسر
شمالي / جنوبي
شرقي / غربي
صاعد / نازل هابط
متقدم / متخلف
مبكر / متاخر
نيء / مطبوخ مطهو
مالح / عذب
ساخن / مثلج
دافي / بارد
غايم / صحو
خصب / قاحل
ماهول / مهجور
مسكون / مهجور
مثمر / عقيم
خاضع / معفي
ملزم /
دايم / موقت
مقيم / مغترب
مدان / بريء
مسجون معتقل / طليق
حي / ميت متوف
مصاب مريض / معافي متعاف
واع / فاقد_الوعي
نباتي / لاحم
مفرد / جمع_نحوي
مكشوف / مغطي
مفقود ضايع / موجود
مؤجل / في_موعده
قايم_في_موعده / ملغي
ورقي / الكتروني رقمي
سلكي / لاسلكي
حضوري / عن_بعد افتراضي
قريب / بعيد
سالك / مقطوع
صيفي / شتوي
اختياري / الزامي
موحد / متعدد
مضغوط /
متطابق / مختلف
متساو / متفاوت
منته / ساري
مستوف /
مرضي_عنه / مرفوض
مرييي / مخفي
ابتدايي /
مسلح / اعزل
متفايل / متشايم
مشدود / مرخي
مطوي / مبسوط
ملفوف / مفرود
مربح / خاسر
مكلف باهظ / رخيص
واضح / غامض مبهم
بسيط / معقد
سهل / عسير
خفيف / ثقيل
"""
"""Without feminine and plural endings, which `words` takes off, and without words that are mostly names of people."""
VERBS: Final = """
accept reject refuse decline
allow forbid prohibit ban block deny
admit exclude bar
include exclude omit
approve reject disapprove
agree disagree refuse
support oppose
confirm deny
increase decrease reduce
rise fall drop sink
grow shrink
expand contract
gain lose
win lose
raise lower
improve worsen deteriorate
strengthen weaken
accelerate decelerate
speed_up slow_down
open close shut
start stop end
begin end finish
continue stop cease
keep delete discard drop
keep lose
add remove
insert remove
save delete
create delete destroy
build demolish
attach detach remove
connect disconnect
mount unmount
lock unlock
lock_in release
enable disable
activate deactivate
install uninstall remove
encrypt decrypt
compress decompress
pack unpack
load unload
upload download
import export
push pull
send receive
give receive
lend borrow
buy sell
earn spend
save spend
hire dismiss fire
join leave quit
enter leave exit
arrive depart leave
stay leave
remain leave
pass fail
succeed fail
like dislike hate
love hate
praise criticise
trust distrust mistrust
obey disobey
remember forget
know ignore
hide show reveal
cover uncover
attend miss skip
catch miss
find lose
answer ignore
reply ignore
speak_for speak_against
freeze melt thaw
heat cool
warm cool
fill empty
float sink
inflate deflate
tighten loosen
lengthen shorten
widen narrow
extend shorten curtail
sit stand
wake sleep
live die
survive die perish
break repair
damage repair
pay owe
charge discharge
publish unpublish retract
subscribe unsubscribe
follow unfollow
mute unmute
merge split
combine separate
marry divorce
ascend descend
climb descend
advance retreat
attack defend
host guest
promote demote
upgrade downgrade
cancel confirm
accuse acquit
convict acquit
ratify reject
veto approve
grant deny revoke refuse
renew cancel terminate
retain discard
preserve destroy
wet dry
"""
"""Verbs in their plain form: the first excludes each of the others."""
