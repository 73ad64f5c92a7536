"""Texts about nothing in particular, and their vectors: what a question is compared with across scripts.

    python tests/bench/references.py

Embeds the texts with the bundled default model and writes them into `cortex_ranking`, as whole numbers (127 at the
largest element): backgrounds change by less than 0.0002. Everyday talk, notes of work, technical and encyclopaedic
sentences, each in English and in Arabic, so that the scripts differ in nothing else. Any such texts do: with one half
of them or the other, the share of answers that is kept moves by up to six points. To calibrate another bundled model,
embed them with it and add it to `cortex_ranking.calibration`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import numpy as np

import cortex_ranking
from cortex_infra import embedding_models
from cortex_infra.servers.embedder import E5_SMALL
from cortex_ranking import calibration

SHIPPED: Final = Path(cortex_ranking.__file__).parent / "references"

REFERENCES: Final[tuple[tuple[str, str], ...]] = (
    (
        "I finally finished painting the kitchen yesterday and it looks great.",
        "أنهيت أخيرًا طلاء المطبخ أمس ويبدو رائعًا.",
    ),
    (
        "Let's meet at the station at half past six and walk from there.",
        "لنلتق في المحطة عند السادسة والنصف ونمشي من هناك.",
    ),
    (
        "My brother got a new job at a hospital and starts next month.",
        "حصل أخي على عمل جديد في مستشفى ويبدأ الشهر المقبل.",
    ),
    (
        "The children had a wonderful time at the beach last weekend.",
        "قضى الأطفال وقتًا رائعًا على الشاطئ في نهاية الأسبوع الماضي.",
    ),
    (
        "I'm so sorry to hear that, please tell me if I can help.",
        "يؤسفني سماع ذلك، أخبرني من فضلك إن كان بوسعي المساعدة.",
    ),
    (
        "We adopted a small dog and named her Luna.",
        "تبنينا كلبة صغيرة وسميناها لونا.",
    ),
    (
        "That sounds amazing! How long have you been practising the guitar?",
        "يبدو ذلك مذهلًا! منذ متى وأنت تتمرن على الجيتار؟",
    ),
    (
        "She prefers tea without sugar and never drinks coffee after noon.",
        "هي تفضل الشاي بلا سكر ولا تشرب القهوة بعد الظهر أبدًا.",
    ),
    (
        "The invoice for October was sent to the customer on the third.",
        "أرسلت فاتورة أكتوبر إلى العميل في اليوم الثالث.",
    ),
    (
        "The team decided to postpone the release by two weeks.",
        "قرر الفريق تأجيل الإصدار أسبوعين.",
    ),
    (
        "The backup runs every night at two and is kept for thirty days.",
        "يعمل النسخ الاحتياطي كل ليلة في الثانية ويحفظ ثلاثين يومًا.",
    ),
    (
        "The server listens on port 8443 and needs a client certificate.",
        "يستمع الخادم على المنفذ 8443 ويحتاج إلى شهادة عميل.",
    ),
    (
        "Deploy only after the tests pass and a colleague has reviewed the change.",
        "لا تنشر إلا بعد نجاح الاختبارات ومراجعة زميل للتغيير.",
    ),
    (
        "The database was moved to a larger machine because queries were slow.",
        "نقلت قاعدة البيانات إلى جهاز أكبر لأن الاستعلامات كانت بطيئة.",
    ),
    (
        "The river rises in the mountains and flows north into the sea.",
        "ينبع النهر من الجبال ويجري شمالًا إلى البحر.",
    ),
    (
        "The city was founded in the tenth century and became a centre of trade.",
        "تأسست المدينة في القرن العاشر وأصبحت مركزًا للتجارة.",
    ),
    (
        "The heart pumps blood through the body and beats about seventy times a minute.",
        "يضخ القلب الدم في الجسم وينبض نحو سبعين مرة في الدقيقة.",
    ),
    (
        "The party won the election with a narrow majority and formed a coalition.",
        "فاز الحزب في الانتخابات بأغلبية ضئيلة وشكل ائتلافًا.",
    ),
    (
        "The film was praised by critics and received three awards.",
        "أشاد النقاد بالفيلم ونال ثلاث جوائز.",
    ),
    (
        "The striker scored twice in the second half and the home side won.",
        "سجل المهاجم هدفين في الشوط الثاني وفاز أصحاب الأرض.",
    ),
    (
        "Plants turn light, water and carbon dioxide into sugar and oxygen.",
        "تحول النباتات الضوء والماء وثاني أكسيد الكربون إلى سكر وأكسجين.",
    ),
    (
        "The painter studied in Paris and returned home before the war.",
        "درس الرسام في باريس وعاد إلى وطنه قبل الحرب.",
    ),
    (
        "Simmer the lentils with cumin and lemon for half an hour.",
        "اطبخ العدس على نار هادئة مع الكمون والليمون نصف ساعة.",
    ),
    (
        "Prices rose by four per cent last year, faster than wages.",
        "ارتفعت الأسعار أربعة في المئة في العام الماضي، أسرع من الأجور.",
    ),
    (
        "The court ruled that the contract was not valid.",
        "قضت المحكمة بأن العقد غير صالح.",
    ),
    (
        "The mosque was built of red stone and has two minarets.",
        "بني المسجد من حجر أحمر وله مئذنتان.",
    ),
    (
        "The school teaches three languages and has four hundred pupils.",
        "تعلم المدرسة ثلاث لغات وفيها أربعمئة تلميذ.",
    ),
    (
        "The engine overheats when the coolant is low.",
        "ترتفع حرارة المحرك عندما ينقص سائل التبريد.",
    ),
    (
        "Take one tablet in the morning with food for ten days.",
        "تناول قرصًا واحدًا صباحًا مع الطعام لمدة عشرة أيام.",
    ),
    (
        "The earthquake damaged hundreds of houses near the coast.",
        "ألحق الزلزال أضرارًا بمئات المنازل قرب الساحل.",
    ),
    (
        "I'm thinking about going back to university to study design.",
        "أفكر في العودة إلى الجامعة لدراسة التصميم.",
    ),
    (
        "Thanks for the photos, your garden is beautiful this year!",
        "شكرًا على الصور، حديقتك جميلة هذا العام!",
    ),
    (
        "His flight was cancelled, so he took the night train instead.",
        "ألغيت رحلته فركب القطار الليلي بدلًا منها.",
    ),
    (
        "The budget of the project is fifty thousand dollars until June.",
        "ميزانية المشروع خمسون ألف دولار حتى يونيو.",
    ),
    (
        "Always answer in short sentences and use metric units.",
        "أجب دائمًا بجمل قصيرة واستخدم الوحدات المترية.",
    ),
    (
        "The password policy requires twelve characters and a second factor.",
        "تشترط سياسة كلمات المرور اثني عشر حرفًا وعاملًا ثانيًا.",
    ),
    (
        "Most of the desert receives less than a hundred millimetres of rain a year.",
        "تتلقى معظم الصحراء أقل من مئة مليمتر من المطر سنويًا.",
    ),
    (
        "The treaty ended the war and set a new border between the two countries.",
        "أنهت المعاهدة الحرب ورسمت حدودًا جديدة بين البلدين.",
    ),
    (
        "Sound travels faster through water than through air.",
        "ينتقل الصوت في الماء أسرع من انتقاله في الهواء.",
    ),
    (
        "Her grandmother taught her how to sew and knit.",
        "علمتها جدتها الخياطة والحياكة.",
    ),
    (
        "Customers may return goods within fourteen days of delivery.",
        "يحق للعملاء إرجاع البضائع خلال أربعة عشر يومًا من التسليم.",
    ),
    (
        "The novel tells the story of a fisherman and his three daughters.",
        "تروي الرواية قصة صياد وبناته الثلاث.",
    ),
    (
        "We saw a fox in the park on the way home tonight.",
        "رأينا ثعلبًا في الحديقة في طريقنا إلى البيت الليلة.",
    ),
    (
        "The company makes batteries and employs two thousand people.",
        "تصنع الشركة البطاريات ويعمل فيها ألفا شخص.",
    ),
    (
        "The algorithm sorts a list in time proportional to its length.",
        "ترتب الخوارزمية القائمة في زمن يتناسب مع طولها.",
    ),
    (
        "The meeting was moved from Tuesday to Thursday at ten.",
        "نقل الاجتماع من الثلاثاء إلى الخميس الساعة العاشرة.",
    ),
    (
        "The bridge is closed to lorries until the repairs are done.",
        "الجسر مغلق أمام الشاحنات حتى تنتهي الإصلاحات.",
    ),
    (
        "He is allergic to peanuts and carries his medicine with him.",
        "لديه حساسية من الفول السوداني ويحمل دواءه معه.",
    ),
)
"""(English, Arabic)"""


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=sorted(embedding_models.LOADERS), default=E5_SMALL.name)
    parser.add_argument("--file", type=Path, default=SHIPPED / str(calibration.E5_SMALL.references))
    options = parser.parse_args()
    model = embedding_models.load(options.model)
    vectors = np.stack([model.encode(list(texts), False) for texts in zip(*REFERENCES, strict=True)])
    np.save(options.file, np.rint(127 * vectors / np.abs(vectors).max(axis=2, keepdims=True)).astype(np.int8))
    print(options.file, vectors.shape)


if __name__ == "__main__":
    main()
