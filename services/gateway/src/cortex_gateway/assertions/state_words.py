"""State words: the axes of `states`, the places on them, and the words that take each place (English, Arabic).

One place a line: axis, place, then its words; a line that is indented goes on. `MORE` has the words that take
  places on
several axes. Opposites that need no axis of their own name are pairs in `opposites`.
"""

from __future__ import annotations

from typing import Final

AXES: Final = """
run on: running works working work up active online alive live operational functional functioning started
  sending printing syncing replicating indexing polling scraping pumping streaming serving operating responding
  up_and_running back_up back_online in_service in_operation in_use_state listening resumed يعمل شغال نشط فعال
  قائم_بالعمل
  في_الخدمه قيد_التشغيل دائر مستمر سار ساري
run off: stopped down inactive offline dead halted crashed exited terminated killed shut_down out_of_service
  out_of_order
  powered_off powered_down broken defunct dormant unresponsive decommissioned retired broken_down under_repair
  being_repaired in_repair out_for_repair under_maintenance in_maintenance needs_repair
  متوقف معطل متعطل موقوف خامل ساكن خارج_الخدمه معطوب واقف منطفي خارب عطلان مقطوع توقف تعطل انهار
run pause: paused suspended on_hold frozen standby متوقف_موقتا معلق مجمد موجل
health on: healthy ok fine_state nominal سليم معافي بخير
health off: unhealthy degraded failing_state sick متدهور عليل
enabled on: enabled turned_on switched_on activated enforced مفعل مشغل ممكن_تقني تفعيل
enabled off: disabled turned_off switched_off deactivated معطل_خيار ملغي_التفعيل تعطيل
net on: connected reachable متصل موصول
net off: لا_يمكن_الوصول_الي disconnected unreachable unplugged منفصل مقطوع مفصول
open on: open opened reopened unresolved مفتوح
open off: closed shut resolved مغلق مقفل مسدود
lock on: locked مقفول
lock off: unlocked
open off: مقفول مقفوله
free on: ببلاش بلاش
run off: died واقع خربان fails crashes
health on: تمام كويس زين
light on: lit مضاء
light off: unlit مطفا_نور
public on: public عام عمومي علني
public off: private confidential خاص سري
free on: free_of_charge gratis complimentary مجاني بلا_مقابل بدون_مقابل دون_مقابل
free off: paid chargeable مدفوع بمقابل بمقابل_مادي
available on: in_stock available vacant bookable متاح متوفر شاغر متيسر
available off: filled unavailable occupied booked taken sold_out out_of_stock محجوز مشغول محجوب غير_متوفر نافد
allowed on: allowed permitted authorised authorized مسموح يسمح تسمح مباح مصرح
allowed off: forbidden prohibited disallowed banned denied ممنوع يمنع تمنع محظور
required on: necessary required mandatory compulsory obligatory الزامي اجباري مطلوب واجب
required off: unnecessary optional voluntary اختياري طوعي
test on: passed passing succeeded successful green ناجح نجح ناجحه
test off: failed failing unsuccessful red فشل فاشل راسب
decided on: accepted approved confirmed granted مقبول معتمد موافق_عليه موكد
decided off: rejected declined refused مرفوض
decided wait: pending undecided awaiting under_review in_review قيد_المراجعه قيد_الانتظار بانتظار_الموافقه
progress on: done completed complete finished delivered منجز مكتمل منتهي منته تم_التسليم مسلم سلم يسلم
progress off: incomplete unfinished in_progress ongoing underway waiting on_its_way on_the_way en_route
  في_الطريق في_طريقها in_transit todo قيد_التنفيذ جار جاري قيد_الشحن
  قيد_العمل ناقص
progress dropped: cancelled canceled aborted abandoned called_off ملغي ملغى_كليا
merged on: merged مدمج
merged off: unmerged
valid on: valid صالح ساري_المفعول
valid off: ran_out run_out invalid expired lapsed revoked منتهي_الصلاحيه باطل لاغ
crypt on: encrypted مشفر
crypt off: unencrypted plaintext
full on: full ممتلي ممتلئ
full off: empty فارغ خال خاوي
write on: writable read_write
write off: read_only immutable للقراءه_فقط
mount on: mounted
mount off: unmounted
install on: installed deployed منشور مثبت
install off: uninstalled undeployed rolled_back
publish on: published
publish off: unpublished draft مسوده
archive on: archived مورشف
archive off: unarchived
signed on: signed موقع
signed off: unsigned
verified on: verified validated
verified off: unverified
safe on: secure safe امن
safe off: insecure unsafe vulnerable
fit on: compatible متوافق
fit off: incompatible
seen on: visible ظاهر مرئي
seen off: hidden invisible مخفي
look dark: dark dark_mode داكن
look light: light فاتح
way manual: manual يدوي
way automatic: automatic automated تلقائي اوتوماتيكي
sync on: synchronous
sync off: asynchronous
current on: up_to_date محدث
current off: outdated out_of_date stale obsolete قديم_الاصدار
support on: supported مدعوم
support off: unsupported deprecated
present on: present حاضر موجود
present off: absent missing غايب مفقود
paid_bill on: settled مسدد
paid_bill off: unpaid overdue outstanding
used on: in_use
used off: unused
steady on: stable مستقر
steady off: unstable flaky
trend on: rose increased grew climbed rising increasing growing climbing improving متزايد مرتفع متصاعد
trend off: fell dropped declined decreased shrank falling decreasing declining shrinking dropping worsening
  متناقص منخفض متراجع
right on: correct right_answer accurate صحيح
right off: incorrect wrong inaccurate mistaken خاطي غلط
law on: legal lawful قانوني
law off: illegal unlawful
clean on: نظيف
clean off: dirty متسخ قذر
wet on: wet رطب مبلل
wet off: dry جاف
heat on: hot ساخن حار
heat off: cold بارد
time on: on_time punctual on_schedule on_track في_موعده في_موعدها في_الموعد
time off: late delayed behind_schedule متاخر متاخره
possible on: possible ممكن
possible off: impossible مستحيل
profit on: profitable رابح مربح
profit off: unprofitable loss-making خاسر
hire on: employed
hire off: unemployed
booked on: reserved
booked off: unreserved
home remote: remote
home onsite: on-site onsite
role primary: primary master leader
role replica: replica secondary standby slave follower
attach on: attached joined
attach off: detached
charge on: charging
charge off: discharging
place online: virtual الكتروني عن_بعد
place onsite: in_person face_to_face حضوري
cost low: cheap inexpensive affordable رخيص
cost high: expensive costly pricey غال غالي
speed high: fast quick سريع
speed low: slow بطيء
extent big: big large huge كبير
extent small: small tiny little صغير
reach long: long طويل
reach short: short قصير
level high: high عال عالي
level low: low منخفض_المستوي
width on: wide عريض واسع
width off: narrow ضيق
depth on: deep عميق
depth off: shallow ضحل
hard on: hard difficult صعب
hard off: easy سهل
noise on: loud noisy صاخب
noise off: quiet silent هادي
age new: new brand_new جديد
strength on: strong قوي
strength off: weak ضعيف
wired on: wired
wired off: wireless لاسلكي
side left: left_side يسار
side right: right_side يمين
flow up: upward
flow down: downward
orient v: vertical
orient h: horizontal
sign plus: positive ايجابي موجب
sign minus: negative سلبي سالب
term full: full_time full-time
term part: part_time part-time
stay on: permanent دايم
stay off: temporary موقت
vary on: variable flexible متغير مرن
vary off: fixed_rate ثابت
spread in: internal داخلي
spread out: external خارجي
order seq: sequential serial
order par: parallel
awake on: awake مستيقظ
awake off: asleep نايم
guilt on: guilty مذنب
guilt off: innocent بريء
harm on: dangerous hazardous toxic poisonous سام خطير خطر
harm off: harmless edible
cook on: cooked
cook off: raw
flavour sweet: sweet حلو
flavour bitter: bitter sour مر حامض
gender m: male ذكر
gender f: female انثي
parity odd: odd
parity even: even
storey in: indoor indoors
storey out: outdoor outdoors
ice on: frozen_over
ice off: ice-free
won on: won فاز فازت
won off: lost خسر خسرت
clear on: transparent شفاف
clear off: opaque معتم
rank low: beginner novice junior amateur مبتدي
rank high: advanced expert senior professional متقدم
origin natural: natural طبيعي_المنشا
origin artificial: artificial synthetic صناعي
surface smooth: smooth ناعم
surface rough: rough خشن
line straight: straight مستقيم
line curved: curved crooked منحن
edge sharp: sharp حاد
edge blunt: blunt dull
grip tight: tight
grip loose: slack
body thick: thick سميك
body thin: thin رقيق
mass heavy: heavy ثقيل
mass light: lightweight خفيف
mood happy: happy
mood sad: sad
said explicit: explicit
said implicit: implicit
count finite: finite
count infinite: infinite unlimited
source open: open_source open-source
source closed: closed_source closed-source proprietary
keep stateful: stateful
keep stateless: stateless
loss none: lossless
loss some: lossy
rule strict: strict صارم
rule lax: lax lenient relaxed متساهل
room furnished: furnished مفروش
room bare: unfurnished
opt in: opt-in
opt out: opt-out
taste vegan: vegan نباتي
dress formal: formal رسمي
dress informal: informal casual
home single_storey: detached_house
drink sober: sober
drink drunk: drunk
move mobile: mobile portable متنقل
move fixed: stationary immobile
era modern: modern حديث
era ancient: ancient عتيق
place urban: urban
place rural: rural ريفي
weather sunny: sunny مشمس
weather rainy: rainy ماطر
pace sudden: sudden
pace gradual: gradual
arm on: armed
arm off: disarmed unarmed
exist on: exists exist
exist off: deleted removed gone erased
load idle: idle
load busy: busy مشغول
age old: old قديم
happen on: takes_place take_place took_place taken_place goes_ahead
arrival on: arrived وصل وصلت يصل تصل
ready on: ready
ready off: unready notready not_ready
marital single: single اعزب
marital married: married متزوج
marital divorced: divorced مطلق
marital widowed: widowed ارمل
"""

MORE: Final = """
open مفتوح: open=on ~available=on
processing recording serving: run=on
accessible: open=on
inaccessible: open=off
ready جاهز: ready=on ~run=on
renewed: valid=on
crashloopbackoff notready imagepullbackoff oomkilled: run=off ~health=off
تم_اصلاح اصلح اصلحت: run=on ~health=on
تم_شغل: available=off
active: run=on enabled=on
decommissioned: run=off exist=off
clean: clean=on health=on
قائم: run=on happen=on
انتهي انتهت ينته ينتهي_بعد اكتمل اكتملت يكتمل تكتمل: progress=on
approved: decided=on
denied: decided=off allowed=off
granted: decided=on allowed=on
revoked: allowed=off valid=off ~decided=off
missing: present=off install=off
frozen: ice=on run=pause
deprecated: support=off
online: run=on net=on place=online
remote: home=remote place=online
سار ساري ساريه: valid=on ~run=on
منته منتهي منتهيه: valid=off ~progress=on
موجل موجله: time=off run=pause
white: color=white
black: color=black
yellow: color=yellow
blue: color=blue
brown: color=brown
orange: color=orange
purple: color=purple
pink: color=pink
grey gray: color=grey
ابيض بيضاء: color=white
اسود سوداء: color=black
احمر حمراء: color=red
اخضر خضراء: color=green
ازرق زرقاء: color=blue
اصفر صفراء: color=yellow
بني بنيه: color=brown
رمادي: color=grey
ارتفع ارتفعت زاد زادت تحسن تحسنت: trend=on
انخفض انخفضت نقص نقصت تراجع تراجعت هبط هبطت: trend=off
رسب: test=off
غايب: present=off
true: run=on enabled=on light=on
false: run=off enabled=off light=off
paid: paid_bill=on ~free=off
inactive: run=off enabled=off
on: run=on enabled=on light=on
off: run=off enabled=off light=off
up: run=on net=on
down: run=off ~health=off net=off
offline: run=off net=off
broken crashed jammed faulty malfunctioning clogged stuck: run=off ~health=off
ok: health=on test=on ~run=on
healthy: health=on ~run=on
enabled turned_on switched_on: enabled=on run=on ~light=on
disabled turned_off switched_off: enabled=off run=off ~light=off
unavailable: available=off ~run=off
مفعل نشط فعال: enabled=on run=on
معطل متوقف: run=off enabled=off
مطفا: run=off enabled=off light=off
مضاء: light=on ~run=on
متصل: net=on run=on
منفصل: net=off run=off
closed: open=off ~run=off
locked: lock=on ~open=off
مقفل: open=off ~lock=on
resolved repaired: open=off ~progress=on ~run=on
fixed: open=off ~progress=on ~run=on ~vary=off
قبلت قبل_العرض وافق وافقت: decided=on
رفضت ترفض يرفض: decided=off
ساري_المفعول: valid=on ~progress=off
unresolved in_progress waiting: progress=off ~open=on
done completed: progress=on ~open=off
merged: merged=on ~open=off
unmerged: merged=off ~open=on
pending: decided=wait ~progress=off ~run=pause
cancelled canceled ملغي: progress=dropped ~run=off ~decided=off ~happen=off ~valid=off
blocked: allowed=off ~progress=off ~pass=off
free: free=on available=on
failed فشل: test=off ~run=off
passed passing: test=on
failing: test=off ~health=off
green: test=on health=on color=green
red: test=off health=off color=red
archived: archive=on ~run=off
معلق: run=pause ~progress=off
expired lapsed ran_out run_out: valid=off ~run=off
masked: run=off enabled=off
rolled_back: install=off ~run=off
success: test=on ~run=on
failure: test=off ~run=off
passable: pass=on
impassable: pass=off
hung hanging hangs: run=off ~health=off
سليم: health=on ~run=on
تم_ايقاف تمت_ايقاف جري_ايقاف تم_اطفاء: run=off enabled=off light=off
تم_تشغيل جري_تشغيل: run=on enabled=on light=on
تم_تفعيل جري_تفعيل: enabled=on run=on
تم_تعطيل جري_تعطيل: enabled=off run=off
تم_اغلاق جري_اغلاق اغلق اغلقت: open=off ~run=off
تم_فتح: open=on
تم_الغاء جري_الغاء الغي الغيت: progress=dropped ~run=off
تمت_الموافقه_علي تم_قبول تم_اعتماد: decided=on
تم_رفض رفض: decided=off
تم_دفع تم_سداد: paid_bill=on
تم_دمج: merged=on
تم_تسليم: progress=on
تم_حل: open=off
تم_حذف تمت_ازاله تم_مسح حذف ازيل حذفت ازيلت: exist=off
تم_انشاء تمت_اضافه انشي انشيت: exist=on
تم_تجديد: valid=on
موجود: present=on ~exist=on
انتهت_صلاحيه انتهي_صلاحيه انتهاء_صلاحيه: valid=off
تم_نشر: install=on publish=on
توقف: run=off enabled=off
"""
"""Words on several axes; what only follows from a word (~) is not what "not" denies."""
