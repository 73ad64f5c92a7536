"""The Arabic words that the reader knows, folded (`cortex_decision.folding.fold`): closed lists.

Content words are compared without article and feminine ending, and by the English word for them where one is given.
"""

from __future__ import annotations

from typing import Final

from cortex_decision.arabic import DUALS
from cortex_decision.folding import fold


def _words(text: str) -> frozenset[str]:
    return frozenset(fold(text).split())


DROPPED: Final = _words(
    "عنده عندها عندهم مضبوط_علي احنا نحنا الحين دلوقتي دلوقت هلق هلا هسه هسا النهارده اليومين_دول توه لسه لسا اللي "
    "ده دي دا هاي هذول كمان برضه "
    "برضو ايوه اكو بقي بقت "
    "بلغت يتم تتم يعقد تعقد ينعقد تنعقد الان حاليا صار اصبح اصبحت صارت بات باتت لا_يزال لا_تزال ما_زال "
    "ما_زالت مازال مازالت لايزال لدينا عندنا لدي عند "
    "ان انه انها التي الذي الذين قد_تم تم عدد كل جميع هذا هذه ذلك تلك هناك يوجد توجد موجود_حاليا ثم ايضا فيه فيها "
    "بها به عن_العمل بشكل طبيعي بصوره جيد جيدا اليوم حتي_الان بعد يبلغ تبلغ بلغ يساوي تساوي يكون تكون له لها لهم "
    "قيمه مقدار نعم_ و ال جدا تماما فعلا بالفعل كامل من_جديد مجددا الحاليه الحالي هذا_الاسبوع_"
)
BE: Final = _words("هو هي هم هما يبقي تبقي يظل تظل")
WAS: Final = _words("كان كانت كانوا")
PLACES: Final = _words("قدام جنب جوه جوا بره برا في علي داخل خلف امام بجانب ب عند فوق تحت ضمن بين")
PREPOSITIONS: Final = PLACES | frozenset("من الي عن مع لدي ل بدون دون عبر".split())
CAUSES: Final = _words("عشان علشان بس بسبب لان لكن ولكن منذ نتيجه حيث بينما غير_ان الا_ان لذلك عقب اثر رغم")
NEGATIONS: Final = _words(
    "مفيش مافيش مافي ما_في ما_فيه ماكو محدش ماحدش ما_حدا ماحد ما_حد مهوب ماهوب موب مب مهو منيش مالوش ملوش لا_احد لا "
    "ليس ليست ليسوا غير لم لن_ ما_عاد ما_عادت لم_يعد لم_تعد لم_نعد لم_اعد لم_يعودوا عدم بلا لست مو مش"
)
HEDGES: Final = _words(
    "ربما قد لعل هل لو اذا لولا ليت سمعت سمع اظن اعتقد احسب يقال قيل يزعم زعم يبدو عندما حين حينما متي كيف لماذا "
    "ماذا اين سوف غدا قريبا تخيل لنفترض افترض ينبغي يجب محتمل المحتمل يمكن الممكن نخطط يخطط تخطط نعتزم ننوي سنقوم "
    "لن مثلا مثال علي_سبيل_المثال بعض احيانا معظم اغلب غالبا كاد يكاد او ام اما كانما يفترض يرجح نفكر افكر اقترح "
    "نقترح يقترح نامل اتوقع نتوقع يتوقع متوقع المتوقع خطه_ل قيد_الدراسه لست_متاكدا غير_متاكد اشاعه شايعات "
    "حسب_الشايعات كلما"
)
OVER: Final = _words("سابقا قديما حتي فيما_مضي من_قبل قبل السابق السابقه في_السابق سابق")
TIMES: Final = _words("امس البارحه الشهر_الماضي الاسبوع_الماضي العام_الماضي السنه_الماضيه")
FRAMES: Final = _words("في منذ عام سنه خلال من يوم شهر بحلول اعتبارا_من")
LOOSE: Final = _words(
    "خدمه خادم نظام تطبيق برنامج جهاز سيرفر مشروع موقع فرع شركه مكتب قسم فريق طلب حاله وضع وقت موعد تاريخ يوم ساعه "
    "سعر تكلفه كلفه ثمن حجم سعه مده طول بييه بيءه حي مدينه حساب ملف لوحه عميل موظف_ منصه وحده قيمه مستوي صباحا مساء "
    "بيئه محطه مكان رقم مبلغ مجموع شخص عرض مستودع نسبه حي"
)
VERBS: Final = _words(
    "يعمل تعمل يستمع تستمع يستغرق تستغرق يكلف تكلف يحتوي تحتوي يضم تضم يستخدم تستخدم يدعم تدعم يبدا تبدا ينتهي "
    "تنتهي يفتح تفتح يغلق تغلق يقع تقع يحتاج تحتاج يتطلب تتطلب يسع تسع يزن تزن يستهلك تستهلك يقبل تقبل يرسل ترسل "
    "ينشر تنشر يحفظ تحفظ يفتتح يعقد يقام يقدم تقدم يتسع تتسع"
)
BOUNDS: Final = {
    "علي_الاقل": "min", "لا_يقل_عن": "min", "لا_تقل_عن": "min", "كحد_ادني": "min", "علي_الاكثر": "max",
    "لا_يتجاوز": "max", "لا_تتجاوز": "max", "كحد_اقصي": "max", "لا_يزيد_عن": "max", "لا_تزيد_عن": "max",
    "لا_يزيد_علي": "max", "حتي_": "max", "بحد_اقصي": "max", "بحد_ادني": "min", "تجاوز": "over", "تجاوزت": "over",
    "اكثر_من": "over", "يزيد_عن": "over", "يتجاوز": "over", "تتجاوز": "over", "فوق_": "over", "ما_يزيد_عن": "over",
    "اقل_من": "under", "دون_": "under", "حوالي": "about", "نحو": "about", "تقريبا": "about", "قرابه": "about",
    "ما_يقارب": "about", "زهاء": "about",
}  # fmt: skip
CONCEPTS: Final = {
    word: line.split()[0]
    for line in """
birthday ميلاد سنه_ميلاد ولد ولدت مولود مولوده تاريخ_ميلاد
port منفذ بورت
weight وزن يزن تزن
timeout مهله
version اصدار نسخه
owner_word مالك_
database قاعده_بيانات قاعده_البيانات
production انتاج
staging اختبار_بيءه
server خادم سيرفر
service خدمه
project مشروع
repository مستودع
employee موظف موظفين موظفون
memory ذاكره
disk قرص
interval كل فتره
limit حد_اقصي الحد_الاقصي اقصي
minimum حد_ادني الحد_الادني ادني
password كلمه_مرور كلمه_المرور كلمه_سر
address عنوان
city مدينه
telephone هاتف جوال
email بريد_الكتروني بريد
language لغه
branch فرع
headquarters مقر
name اسم
deadline مهله_نهايه الموعد_النهايي
node عقده عقد_جمع
replica نسخ_متماثله
cluster عنقود
network شبكه
backup نسخه_احتياطيه نسخ_احتياطي
firewall جدار_ناري
account حساب
team فريق
use استخدم مستخدم يستخدم تستخدم نستخدم استخدام
user مستخدمين
environment بيئه بيءه
app تطبيق
printer طابعه
engine محرك
file ملف
email_server خادم_بريد
discount خصم
temperature درجه_حراره حراره
website موقع
salary راتب
budget ميزانيه
contract عقد
meeting اجتماع
room غرفه
door باب
office مكتب
deploy نشر
found تاسس تاسست تاسيس
request طلبات
license رخصه
backup النسخ_الاحتياطي النسخه_الاحتياطيه
operating_system_ نظام_تشغيل_
start يبدا تبدا بدايه بدا
end ينتهي تنتهي نهايه انتهاء تاريخ_انتهاء تاريخ_الانتهاء
open_ يفتتح افتتاح
plan خطه_اشتراك باقه
billing فوتره
framework اطار_عمل
model نموذج
operating_system نظام_التشغيل نظام_تشغيل بنظام_التشغيل
status حاله
country دوله بلد
currency عمله
color لون
region منطقه اقليم
end صلاحيه
certificate شهاده
backup نسخ_احتياطي_
""".strip().splitlines()
    for word in fold(line).split()[1:]
}
"""The compared form of Arabic words: an English one where both languages name the same thing."""
ATTRIBUTES: Final = _words(
    "اسم لون لغه عنوان حاله بريد عمله مقر وضع لقب مدينه هاتف فصيله فصيله_دم نوع عاصمه جنسيه مكان تخصص مهنه ديانه "
    "مذهب فوتره خطه باقه شعار محرك نظام قاعده_بيانات email language address headquarters name city telephone "
    "currency color region country status database billing plan engine operating_system framework model password "
    "email"
)
THOUSANDS: Final = {
    "الفان": "2000", "الفين": "2000", "الفا": "2000", "مايتان": "200", "مايتين": "200", "مايتا": "200",
    "ثلاثمايه": "300", "اربعمايه": "400", "خمسمايه": "500", "ستمايه": "600", "سبعمايه": "700", "ثمانمايه": "800",
    "تسعمايه": "900",
}  # fmt: skip
NUMBERS_DUAL: Final = DUALS | {"يومين": "2 يوم", "مرتين": "2 مره"}
WHOLE: Final = _words(
    "وقت وضع بريد بيئ بيئه بلد ليل فرع فريق كلم بيان وظيف وحد وزن وصول ورش وكيل والد باب بنك بنكي بيت لغ لون ليس"
)
"""Words whose first letter is no preposition or conjunction."""
