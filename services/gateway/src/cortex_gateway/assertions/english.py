"""The English words that the reader knows, as `words.word` gives them: closed lists; any other is a content word.

Phrases are written with underscores; `words` joins them before they are looked up.
"""

from __future__ import annotations

from typing import Final

from cortex_gateway.assertions.values import Quantity, Value

DROPPED: Final = frozenset(
    "next upcoming each nothing_else the a an of 's s our my your its their his her this that these those now "
    "currently presently nowadays "
    "still already again just only even also too then there here all both please back very really quite "
    "fully completely entirely definitely certainly actually finally itself themselves who which it they we "
    "i us he she you one's have has had do does did got get gets exactly total overall altogether number "
    "amount count value set configured defined fixed_at at_present at_the_moment right_now as_of_now for_now "
    "these_days today todays so_far meanwhile can could_be to-date per_se indeed of_course own me them "
    "each_one successfully properly normally correctly fine well good smoothly yet since_then "
    "until_further_notice lts anymore any_more any_longer any present be been being currently_at set_to "
    "equals equal_to said_to_be stands stand sits amounts comes use_of and/or out_there as whose "
    "scratch_that as_far_as_i_know as_far_as_i_remember to_my_knowledge as_i_recall by_default a_word_of mr "
    "mrs ms dr prof eng lts reads shows ago".split()
)
"""Words without which a statement says the same."""

BE: Final = frozenset(
    "come comes came is are was were am becomes became become stays stayed stay remains remained remain "
    "keeps turned turns kept_being goes went gone got_to seems looks be been takes_place take_place took_place".split()
)
"""Verbs that join a subject to what is said of it."""
WAS: Final = frozenset("was were had did became went".split())

LOOSE: Final = frozenset(
    "service server daemon process app application system component module project tool instance container "
    "machine host node box vm feature flag option setting mode parameter config configuration environment "
    "env team group squad issue ticket item customer client user company office branch website site page "
    "device unit job task program software package product platform cluster database_server entry record "
    "people person file document department section account current latest new whole entire usual official "
    "regular normal actual default main_one existing size length duration capacity time date day hour price cost fee "
    "rate_of level setting_of info information card name_of status state condition position place location "
    "side line work deployed installed production_line repository repo bucket meeting appointment event "
    "session resource clinic_name object property thing board agent bot appliance assistant".split()
)
"""Words that one of two statements on one subject may leave out, as long as the other says nothing else instead."""

VERBS: Final = frozenset(
    "pull fetch download encode format export print load heat power sign transfer run listen serve work take "
    "last cost need hold contain keep allow accept return store support handle process promise guarantee "
    "offer provide give show report measure weigh connect point send receive read write expose bind consume "
    "occupy reach cover include ship live sit arrive leave sleep wait poll fire refresh rotate sync charge "
    "pay earn sell meet release publish require use depend speak belong own maintain manage lead attend "
    "describe fix add answer start begin end finish close open expire happen occur resolve retry restart "
    "total come stand fit employ count comprise consist amount sum seat rent prefer know have carry build "
    "host house locate plan bill deploy renew deliver launch train study teach cut see tell log call make "
    "pass fail kick execute trigger perform say apply grow process enforce".split()
)
"""Verbs in their plain form; where the predicate begins. Each is loose: "the port is" is "listens on port"."""

PLACES: Final = frozenset("on in at inside under behind within over near beside next_to opposite".split())
PREPOSITIONS: Final = PLACES | frozenset(
    "according_to at_the_end_of by_the_end_of with for by from to via into onto against through about without "
    "towards between among across around upon "
    "above below beneath as_of off_of outside along out_of".split()
)
CAUSES: Final = frozenset(
    "because because_of due_to since after so_that thanks_to owing_to following pending_a awaiting_a though "
    "although even_though despite while whereas but however so therefore thus except and_then".split()
)
"""What follows one of these is another clause, or the reason for this one."""

NEGATIONS: Final = frozenset(
    "no_one nobody_else nothing not never no_longer neither no without_any none hardly ceased_to lacks lack "
    "cannot nobody".split()
)

HEDGES: Final = frozenset(
    "hey hi hello thanks congrats might may could would should maybe perhaps probably possibly apparently "
    "supposedly allegedly reportedly hey hi hello thanks congrats if unless whether think thinks thought "
    "believe believes guess hope hopes hoping want wants wanted planned_to plans_to plan_to planning "
    "consider considers considering suggest suggests suggested propose proposes proposed proposal heard hear "
    "rumor rumour rumours rumors imagine suppose supposing will shall wish wishes trying tries try intend "
    "intends expect expects expected when whenever seem seems likely unlikely tomorrow soon wonder wondering "
    "doubt doubts assume assuming pretend dream eventually someday ought what why how which_one "
    "going_to about_to to_be_done todo let lets let_us example e.g eg scheduled_for_later for_example "
    "for_instance such_as hypothetically in_case provided_that as_long_as as_soon_as sometimes occasionally "
    "often usually partly partially either or not_only not_just not_necessarily not_always not_all not_every "
    "not_sure unsure is_unknown is_unclear claim claims claimed asked asks scheduled_to due_to_be "
    "set_to_become next_week next_month next_year next_quarter was_to wish_list template sample "
    "everyone_says pretended feels_like as_if as_though were_to idea ideas option_is afraid worried fear "
    "fears feared once_the almost nearly_all running_late running_out_of running_low until_further".split()
)
"""A sentence with one of these is a question, a plan, a condition, hearsay, an example or about some of many."""

PLANNED: Final = frozenset(
    "will shall tomorrow soon going_to about_to next_week next_month next_year next_quarter scheduled_to".split()
)
"""Of those the ones that say of their clause alone that it is not so yet."""
GREETINGS: Final = frozenset("hey hi hello thanks congrats nope yep yeah correction update fyi btw ps".split())
"""First words of a label that only opens a message."""

OVER: Final = frozenset(
    "used_to formerly previously originally initially at_first in_the_past once_was earlier back_then former "
    "previous old_value until till up_until ex- historically at_that_time at_the_time before "
    "no_more_than_once was_once had_been then-".split()
)
"""What is said with one of these is over, or ends."""

TIMES: Final = frozenset(
    "this_afternoon this_evening "
    "last_summer last_winter last_spring last_autumn last_fall last_quarter last_weekend last_monday "
    "last_tuesday last_wednesday last_thursday last_friday last_saturday last_sunday last_january "
    "last_february last_march last_april last_may last_june last_july last_august last_september "
    "last_october last_november last_december yesterday tonight last_week last_month last_year last_night "
    "this_morning".split()
)
"""Times that cannot be resolved from the text alone."""
FRAMES: Final = frozenset("in during on at for as_of from since by between through throughout effective over".split())
"""What a time that is no value may follow."""

QUANTIFIERS: Final = frozenset(
    "somebody someone lot lots much some most many few several another any a_few one_of some_of most_of "
    "many_of other others "
    "certain بعض معظم اغلب احد احدي".split()
)
"""A subject that begins with one of these is some of many."""
REPORTS: Final = frozenset(
    "said says told tells mentioned noted reported reports confirmed confirms notes mentions states stated "
    "added adds writes wrote agreed found افاد افادت ذكر ذكرت اكد اكدت اوضح اوضحت لاحظ لاحظنا لاحظت اضاف "
    "اضافت بين بينت".split()
)
"""Verbs after which "that" begins what is stated."""
WITNESSES: Final = frozenset(
    "user customer client patient monitoring dashboard report log system page board console agent قال "
    "المستخدم العميل".split()
)
"""Who may say something without it being hearsay."""
COMMANDS: Final = frozenset("pip show get post curl kubectl docker systemctl ps cat ls git npm helm ssh psql".split())
"""Words of command lines, which name nothing."""
WHERE: Final = frozenset(
    "host hosts hosted location place node server machine site where vm container room hall venue موقع مكان "
    "مضيف خادم سيرفر".split()
)
"""Keys that ask for the place of a thing."""
LEAVING: Final = frozenset(
    "left quit sold dropped ditched abandoned scrapped removed retired resigned_from moved_out_of moved_away_from "
    "got_rid_of gave_up stepped_down_as gone_off stopped_using ترك تركت تركنا غادر غادرت استقال_من استقالت_من بعت "
    "بعنا باع باعت تخلينا_عن توقفنا_عن".split()
)
"""Verbs that end what their object names."""
RESCHEDULED: Final = frozenset(
    "moved_to changed_to rescheduled_to postponed_to put_off_to brought_forward_to pushed_back_to pushed_to delayed_to "
    "shifted_to deferred_to".split()
)
"""What is moved to a day is on that day."""
SUCCEEDING: Final = frozenset("took_over taken_over takes_over".split())
"""Verbs of who has something from whom."""
INSTEAD: Final = frozenset("instead_of rather_than in_place_of بدل بدلا_من عوضا_عن".split())
"""What follows one of these is so no longer."""
CHANGES: Final = frozenset(
    "set_to deployed upgraded updated bumped installed set changed moved switched raised increased lowered "
    "reduced decreased "
    "extended renamed migrated rolled_out pinned downgraded cut replaced".split()
)
"""Verbs whose outcome lasts: what was upgraded to 16 is at 16."""
IMPLIED: Final = {
    "mass": frozenset({"weight"}),
    "bytes": frozenset("capacity size hold store have total amount حجم سعه".split()),
    "time": frozenset("term life run duration length take last time مده وقت زمن".split()),
    "volume": frozenset("volume capacity size hold سعه سع حجم".split()),
    "share": frozenset("rate percentage percent ratio share نسبه نسب".split()),
    "": frozenset("size people person member strong number count total عدد".split()),
    "date": frozenset("سنه عام year start begin run date day time موعد يوم تاريخ".split()),
    "temperature": frozenset({"temperature"}),
    "length": frozenset("length distance".split()),
    "speed": frozenset("speed سرعه".split()),
    "area": frozenset("area size مساحه مساح".split()),
    "rate": frozenset("speed bandwidth rate throughput سرعه".split()),
    "frequency": frozenset({"frequency"}),
    "pressure": frozenset({"pressure"}),
    "voltage": frozenset({"voltage"}),
    "power": frozenset({"power"}),
    "clock": frozenset("start begin run time hour ساعه ساع وقت موعد صباحا مساء صباح".split()),
} | {
    f"money_{code}": frozenset("pay price cost fee charge amount سعر تكلفه تكلف كلفه ثمن".split())
    for code in "eur usd gbp sar egp aed jod jpy".split()
}
"""What a unit says by itself."""

BOUNDS: Final = {
    "at_least": "min", "no_less_than": "min", "not_less_than": "min", "minimum": "min", "min": "min",
    "no_fewer_than": "min", "at_most": "max", "up_to": "max", "no_more_than": "max", "not_more_than": "max",
    "maximum": "max", "max": "max", "not_exceed": "max", "not_over": "max", "limited_to": "max", "capped_at": "max",
    "or_more": "min", "or_less": "max", "more_than": "over", "over": "over", "above": "over", "greater_than": "over",
    "exceeds": "over", "exceed": "over", "exceeded": "over", "exceeding": "over", "surpassed": "over",
    "less_than": "under", "under": "under", "below": "under", "fewer_than": "under", "or_fewer": "max",
    "about": "about", "around": "about", "approximately": "about", "approx": "about", "roughly": "about",
    "~": "about", "≈": "about", "nearly": "about", "almost_": "about", "circa": "about", "some_": "about", "≥": "min",
    "≤": "max", ">": "over", "<": "under", ">=": "min", "<=": "max",
}  # fmt: skip
"""What a word before (or after) a number makes of it."""

CONCEPTS: Final = {
    word: line.split()[0]
    for line in """
timeout times_out time_out timed_out timing_out time-out timeouts
interval period every frequency schedule cadence
retention retain retained retains kept keep_for retaining
limit max maximum cap quota ceiling up_to_limit max_
minimum min floor_limit
end expire expiry expires expiration expired_on valid_until ends_validity expiring ends ended finish finishes
end finished close_time conclude concludes ending
start starts started begin begins began beginning kickoff kick-off kick_off commence commences
ram memory mem
cpu processor
operating_system os
disk storage
production prod live_environment
staging stage_env
development dev
database db
authentication auth authn
repository repo
kubernetes k8s
postgresql postgres pg psql
employee staff headcount employees people_employed personnel
retry retries retried retrying
replica replicas
attachment attachments
elect elected election
back_door
back_yard
back_room
back_office
back_gate
back_seat
back_wheel
back_row
inhabitant inhabitants population residents
found foundation founded established founding establishment
release released releases
address addr
password passwd
directory dir folder
certificate cert
telephone phone
license licence licences
colour color
headquarters hq headquartered
email e-mail mail_address
version versions
meeting meet_up appointment
deadline due due_date
temperature temp
percent percentage
document docs doc
organisation organization org firm
configuration config
centre center
wifi wi-fi wlan
discount rebate
salary wage
request req reqs
message msg msgs
birthday year_of_birth born birth_date date_of_birth
use usage consumption used
must have_to has_to need_to needs_to required_to obliged_to
weight weigh weighs
age aged
""".strip().splitlines()
    for word in line.split()
}
"""Words for one thing, by the first of them."""

STATUS: Final = frozenset("status state condition health role availability visibility connectivity".split())
"""Words for the attribute of a state."""

OBLIGED: Final = "must"
"""The compared form of "must", "has to", "is required to": denied, it is a freedom or a ban."""
NOTHING: Final = frozenset("nothing nobody no_one none لا_احد محدش ماحدش ما_حدا ماحد ما_حد".split())
"""Negations that leave out nothing and nobody."""
EXPANDED: Final = {"free_of": "not contain", "need_not": "not must", "free_from": "not contain"}
"""Phrases that deny a verb they do not name."""
ATTRIBUTES: Final = frozenset(
    "name color colour language branch region status state address email mail number phone version database "
    "deadline date location city capital password currency timezone zone headquarters hostname url domain "
    "theme mode level priority engine framework provider strategy format policy editor shell default size "
    "salary price owner nickname plan tier edition billing broker queue scheduler registry runtime model "
    "type kind title role theme backend frontend storage store license licence protocol algorithm compiler "
    "theme bank vendor supplier carrier brand manufacturer port host ip gateway dns subnet ssid user "
    "username code id key channel venue room floor seat country nationality birthplace religion blood group "
    "encoding charset locale os platform distribution kernel filesystem system cache proxy certificate "
    "issuer destination origin source_of target subject topic format font layout unit schedule weekday "
    "contact login hosting cloud datacentre datacenter method approach orm library toolkit cms crm erp idp "
    "sso tracker monitoring logging chat messenger package_manager linter formatter interpreter ide sport "
    "team club school university subject major profession job occupation employer spouse currency diet drink "
    "food hobby".split()
)
"""Nouns of which a thing has one: "the default branch is main" leaves no room for another."""
OPEN_KEYS: Final = frozenset(
    "tag tags label labels keyword keywords note notes source sources see link links url related alias "
    "aliases description summary comment comments todo example examples id uid uuid created updated modified "
    "title author authors date reference references ref refs topic topics category categories member members "
    "attendee attendees participants participant dependency dependencies depends requires feature features "
    "skill skills item items step steps warning tip hint caution info question answer q a re subject from to "
    "cc fyi ps nb update updates reminder correction changelog reason because message error errors log "
    "output input usage context background goal goals risk risks action actions task tasks agenda decision "
    "decisions slug path file files http https hobbies languages وسوم وسم ملاحظه ملاحظات مصدر المصدر رابط "
    "مرجع وصف ملخص مثال سوال جواب تحذير تنبيه".split()
)
"""Keys whose values are many, or describe the text instead of its subject."""
MANY_KEYS: Final = frozenset(
    "tags labels links notes aliases keywords sources references comments link وسوم روابط ملاحظات".split()
)
DOCUMENTS: Final = frozenset(
    "decision decisions context consequences alternatives limits limit_s usage background scope goals stack "
    "facts details summary general about misc runbook readme notes note page overview doc docs "
    "document documentation guide manual wiki card sheet snippet memory agent md txt yaml yml json ini conf "
    "toml service services host hosts vendor vendors guest guests file record report log board chart org crm "
    "update updates rules news reminder correction notice announcement faq minutes handbook policy "
    "profile crm config configuration settings infra infrastructure تقرير خطه محضر كشف نشره جدول دليل ملف "
    "بيانات صفحه سجل بطاقه ملاحظات file data".split()
)
"""Words of titles that name the document, not what it is about."""
NUMBERED: Final = frozenset(
    "floor room page chapter issue ticket incident building gate line step site phase adr pr build release "
    "version_of platform section level_no shelf rack node pump flight route bus tram line item question "
    "invoice order case bug story sprint week pump unit door bay lane table figure appendix paragraph "
    "release house apartment flat suite class grade terminal track channel_no pod shard partition epic rfc "
    "iso section zone sector area round season episode volume".split()
)
"""Nouns that a number after them names."""
EVENTS: Final = frozenset(
    "happen occur "
    "release launch expire found bear born due deadline start end schedule create establish publish deploy "
    "sign renew deliver complete hold birthday wedding meeting review kickoff demo exam interview "
    "appointment event party conference workshop webinar anniversary cutover go-live golive date migration "
    "flight trip holiday ceremony opening closing delivery inspection audit visit retrospective standup sync "
    "call session lecture course training maintenance backup restore test lease contract passport visa "
    "warranty certificate licence subscription membership rent payment invoice submission handover install "
    "upgrade open opened founded built join hire arrive depart depature departure arrival valid effective "
    "يعقد تعقد next last first hire hired appoint appointed elect elected join joined promote عين عينت graduation "
    "match game concert show exhibition festival election hearing surgery vaccination kick start_date "
    "end_date moved postponed rescheduled scheduled set planned_for take_place freeze sprint milestone "
    "rollout eol sunset retire retirement موعد تاريخ تسليم اطلاق افتتاح اجتماع مقابله مقابلة زفاف حفل امتحان "
    "اختبار مراجعه انتهاء بدايه نهايه ينتهي يبدا يفتتح تبدا تنتهي تاسس تاسست ولد ولدت صدر صدرت عرض رحله معرض "
    "موتمر ندوه ورشه زياره تجديد عقد صلاحيه جواز اخر دوام دورة يصدر ينعقد يقام تقام بدا انتهي ميلاد".split()
)
"""Words with which a date is what is said, not when it is true."""
HONORIFICS: Final = frozenset(
    "كابتن الكابتن دكتور دكتوره مهندس مهندسه استاذ استاذه المهندس المهندسه الدكتور الدكتوره الاستاذ الاستاذه "
    "السيد السيده الشيخ الاخ الاخت".split()
)

ROLES: Final = {
    word: line.split()[0]
    for line in """
owner يملكه تملكه يملكها تملكها handled_by run_by organised_by organized_by overseen_by assignee assigned
  assigned_to مسند مسند_الي مكلف
  owns owned owned_by belongs_to belong_to responsible
  responsible_for in_charge_of accountable_for responsible_person
  takes_care_of looks_after looked_after_by taken_care_of_by accountable property_of product_owner مالك مالكه
  يملك تملك صاحب صاحبه يمتلك تمتلك ملك
  مسوول مسووله المسوول مسوول_عن مسووله_عن
coach_ مدرب مدربه
author wrote written_by كاتب كاتبه مولف مولفه
doctor طبيب طبيبه
teacher معلم معلمه مدرس مدرسه_
lawyer محامي محام محاميه
secretary سكرتير سكرتيره امين_سر
deputy نايب نايبه
contact جهه_الاتصال
maintainer maintains maintained maintained_by maintainers صيانه مشرف_صيانه
manager يديره تديره يديرها تديرها manages managed managed_by supervisor supervises supervised_by reports_to
  report_to boss مدير مديره يدير تدير
lead يقوده تقوده يقودها تقودها يراسه تراسه يراسها تراسها leads leader led led_by headed_by head heads chief
  رييس رييسه قايد يقود تقود يراس تراس مشرف مشرفه يشرف تشرف
  يشرف_علي تشرف_علي
on_call on-call
contact contact_person
ceo
cto
cfo
author
reviewer reviewed_by
approver approved_by
designer designed designed_by
creator created_by
manufacturer manufactured_by made_by
supplier supplied_by
provider provided_by
teacher taught_by teaches
founder founded_by
author painted_by
built_ built_by
dean عميد عميده
operator operated_by operates
captain captains
president
director directs directed_by
chair chairman chairs chaired_by
administrator admin admins administers administered_by
host_role hosted_by_person
coach coach_ coaches
mentor mentors
landlord
driver سايق سايقه
tenant
doctor
sponsor
moderator moderates
editor
coordinator coordination coordinates coordinated_by منسق
dentist
lawyer solicitor attorney
accountant
teacher tutor
therapist
vet veterinarian
wife husband spouse married_to
partner_role
treasurer
secretary
mayor
founder
principal
architect
caretaker janitor
roommate flatmate
""".replace("\n  ", " ")
    .strip()
    .splitlines()
    for word in line.split()
}
"""Roles that one holder, or one group of holders, has for a thing."""
HOLDING: Final = frozenset(
    "teaches "
    "captains coaches mentors moderates wrote designed owns maintains manages leads heads supervises chairs "
    "administers coordinates operates "
    "directs looks_after takes_care_of يملك تملك يمتلك تمتلك يدير تدير يقود تقود يراس تراس يشرف_علي تشرف_علي "
    "يشرف تشرف".split()
)
"""Verbs between the holder and the thing."""
HELD: Final = frozenset(
    "looked_after_by taken_care_of_by يقوده تقوده يقودها تقودها يديره تديره يديرها تديرها يملكه تملكه يملكها "
    "تملكها يراسه تراسه يراسها تراسها "
    "handled_by run_by organised_by organized_by overseen_by written_by approved_by designed_by created_by "
    "married_to "
    "manufactured_by made_by supplied_by provided_by taught_by founded_by painted_by built_by reviewed_by "
    "owned_by belongs_to belong_to maintained_by managed_by supervised_by reports_to report_to led_by "
    "headed_by operated_by directed_by chaired_by administered_by coordinated_by assigned_to مسند_الي "
    "property_of".split()
)
"""Verbs between the thing and the holder."""
FOR: Final = frozenset("responsible_for in_charge_of accountable_for مسوول_عن مسووله_عن".split())
"""What stands between the holder, "is", and the thing."""

HOUSED: Final = frozenset(
    "is_called are_called was_called is_named runs_on run_on running_on hosted_on hosted_in hosted_at "
    "hosted_with located_in located_at located_on "
    "based_in based_at stored_in stored_on stored_at kept_in kept_under stored_under lives_under kept_on "
    "kept_at deployed_on deployed_to deployed_in lives_in lives_on lives_at live_in live_on resides_in "
    "resides_on resides_at sits_on sits_in headquartered_in parked_in parked_at housed_in takes_place_in "
    "took_place_in takes_place_at meets_in meets_at goes_to go_to sent_to written_to saved_to uploaded_to "
    "copied_to forwarded_to synced_to points_to met_in licensed_under made_of named_after_ مصنوع_من "
    "مصنوعه_من ran_on works_at works_for work_at work_for written_in built_with built_on built_in held_in "
    "held_at implemented_in coded_in powered_by moved_to relocated_to migrated_to placed_in hangs_in "
    "stands_in موجود_في موجوده_في يقع_في تقع_في يسكن_في تسكن_في يعيش_في تعيش_في يقيم_في مقره_في مقرها_في "
    "مستضاف_علي محفوظ_في مخزن_في محفوظه_في مخزنه_في مكتوب_ب".split()
)
"""Where a thing is, by what, of which there is one answer at a time."""


def implied(value: Value) -> frozenset[str]:
    """Words that say no more than the kind and the unit of `value`."""
    content = value.content
    return IMPLIED.get(content.dimension if isinstance(content, Quantity) else value.kind.value, frozenset())


OPPOSITES: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        "win/lose won/lost rise/fall rose/fell increase/decrease grow/shrink gain/lose gained/lost accept/reject "
        "accepted/rejected approve/reject approved/rejected approve/deny allow/forbid allow/block allow/deny "
        "allow/ban include/exclude like/dislike like/hate love/hate support/oppose agree/disagree attached/detached "
        "attach/detach mount/unmount lock/unlock pass/fail succeed/fail open/close start/stop keep/delete "
        "kept/deleted buy/sell bought/sold install/uninstall joined/left join/leave enable/disable "
        "connect/disconnect "
        "encrypt/decrypt remember/forget voted_for/voted_against before/after above/below inside/outside "
        "online/offline online/in_person left/right north/south east/west first/last higher/lower more/less "
        "more/fewer morning/evening odd/even hidden/visible dark/light raise/lower raised/lowered import/export "
        "confirm/deny confirmed/denied improve/worsen improved/worsened arrived/departed charge/discharge "
        "publish/unpublish"
    ).split()
)
"""Verbs and others of which only one can be true of the same."""


NAMED_BY: Final = {
    "is_called": "name",
    "are_called": "name",
    "was_called": "name",
    "is_named": "name",
    "licensed_under": "license",
    "made_of": "material",
    "مصنوع_من": "material",
    "مصنوعه_من": "material",
}
"""Phrases before the value of an attribute."""
ADVERBS_NOT: Final = frozenset(
    "family supply assembly july italy reply anomaly monopoly only early friendly belly ally rally bully "
    "jelly lily fly apply comply rely multiply daily weekly monthly yearly hourly nightly homily butterfly".split()
)
"""Words in -ly that are no adverbs."""
SINGULAR: Final = frozenset(
    "gateway cache proxy queue broker registry scheduler backend frontend dns bank tracker database cluster "
    "repository".split()
)
"""Attributes and general words that are mostly the one of their kind where they are spoken of."""
VOCABULARY: Final = (
    LOOSE
    | ATTRIBUTES
    | EVENTS
    | STATUS
    | NUMBERED
    | CHANGES
    | QUANTIFIERS
    | REPORTS
    | DOCUMENTS
    | FOR
    | HOUSED
    | OPEN_KEYS
    | frozenset(CONCEPTS)
    | frozenset(CONCEPTS.values())
    | ROLES.keys()
)
"""Words that are looked up by what they are, not by their stem."""
