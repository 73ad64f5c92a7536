"""What of a memory may be quoted years later without what stood around it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sleep.consolidation.claims import MAX_CHARS, claims, takes_back


def texts(text: str, speaker: str | None = "Mara") -> list[str]:
    return [one.text for one in claims(text, speaker=speaker)]


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Lisbon in March with my two cats.",
        "I bake sourdough bread every Sunday morning.",
        "My sister works at a bakery in Porto.",
        "I play the violin in a youth orchestra.",
        "I can't eat peanuts since my allergy test last year.",
        "We adopted a puppy from the shelter in Braga yesterday!",
        "I used to play the violin in a youth orchestra.",
        'I read "The Master and Margarita" twice last winter.',
        "انتقلت الى مدينة اللاذقية مع اختي قبل شهرين.",
        "اشتريت سيارة زرقاء صغيرة من السوق القديم.",
    ],
)
def test_what_somebody_states_of_themselves_is_a_claim(text: str) -> None:
    assert texts(text) == [text]


def test_how_an_answer_begins_is_not_quoted() -> None:
    assert texts("Thanks, Ines! I painted the kitchen walls green last week.") == [
        "I painted the kitchen walls green last week."
    ]
    assert texts("Yeah, I started a pottery class in Porto. How about you?") == ["I started a pottery class in Porto."]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Did I tell you about my pottery class in Porto?", "question"),
        ("I moved to Lisbon with my cats, right?", "question"),
        ("Hi Ines, great to see your garden photos!", "greeting"),
        ("Thanks a lot for the lovely birthday present.", "thanks"),
        ("I'm so happy for your sister and her new job!", "reaction"),
        ("I'm really proud of the whole team and the coach.", "reaction"),
        ("I will buy a house in Lisbon with my sister.", "plan"),
        ("I'm going to open a bakery with my sister.", "plan"),
        ("I'm moving to Lisbon with my cats next month.", "plan"),
        ("I want to learn the violin and the piano.", "plan"),
        ("I plan a trip to Braga with my cats.", "plan"),
        ("We're opening a bakery in Porto on Friday.", "plan"),
        ("I decided to sell my car and my boat.", "plan"),
        ("We fly to Japan in two weeks with the kids.", "plan"),
        ("I start my new job at Helio on Monday.", "plan"),
        ("I promised my sister a trip to Japan.", "plan"),
        ("I almost moved to Berlin with my sister.", "not so"),
        ("I'm not saying I own a bakery in Porto.", "not so"),
        ("I own a bakery in Porto, don't I.", "question"),
        ("In my novel I live on a ship near Norway.", "story"),
        ("I play a doctor in a series about Boston.", "story"),
        ("I may have lost my wallet near the station.", "doubt"),
        ("اخبرني صديقي ان المدير باع البيت القديم.", "hearsay"),
        ("حلمت البارحة اني اعيش في قصر كبير.", "dream"),
        ("I might sell my car and buy a boat.", "doubt"),
        ("I guess my landlord sold the whole house.", "doubt"),
        ("If I won the lottery, I bought an island.", "condition"),
        ("I heard my landlord sold the whole house.", "hearsay"),
        ("My boss said the Porto office closed last week.", "hearsay"),
        ("My sister told me our old school burned down.", "hearsay"),
        ("According to my neighbour, our street floods every winter.", "hearsay"),
        ('My coach shouted "I quit this stupid team" at our game.', "somebody's words"),
        ("I am the king of France and own three castles, just kidding!", "joke"),
        ("I ate forty pizzas for breakfast today lol.", "joke"),
        ("I married a penguin in Antarctica yesterday 😂", "joke"),
        ("It was the best concert of my whole life.", "points away"),
        ("I made this for my sister's birthday party.", "points away"),
        ("She sold our bakery in Porto last winter.", "points away"),
        ("I visited their bakery near the harbour.", "points away"),
        ("I played with them near the old harbour.", "points away"),
        ("I bought one for my sister's birthday.", "points away"),
        ("I spent three long weeks in Braga working on it.", "points away"),
        ("But I sold my violin to a neighbour.", "goes on"),
        ("You should try the bakery near my house.", "addressed"),
        ("I like it.", "too little"),
        ("Bread and butter.", "too little"),
        ("Honesty is always the best policy for everyone.", "about nobody"),
        ("I got {'error': 404, 'path': '/tmp'} from my server.", "data"),
        ("[photo: I am standing in front of my bakery in Porto]", "nobody said it"),
        ("هل انتقلت اختي الى اللاذقية قبل شهرين؟", "question"),
        ("سأنتقل الى مدينة اللاذقية مع اختي.", "plan"),
        ("ربما اشتريت سيارة زرقاء من السوق.", "doubt"),
        ("سمعت ان المدير باع البيت القديم.", "hearsay"),
        ("انا ملك فرنسا وعندي قصور كثيرة، امزح معك", "joke"),
        ("In the play I am a doctor with three children.", "a role"),
        ("In the video game I own three houses in Tokyo.", "a role"),
        ("في المسلسل أنا طبيب في مستشفى", "a role"),
        ("في الحلم كنت أعيش في قصر كبير", "a role"),
        ("I dreamt that I lived in a castle with my sister.", "a role"),
        ("Per Omar, Karim bought a boat in Greece.", "whose words"),
        ("I saw on TikTok that my city banned cars.", "whose words"),
        ("Omar keeps telling me my brother bought a boat.", "whose words"),
        ("I am a rock, I am an island, as the song goes.", "whose words"),
        ("حسب عمر كريم اشترى قاربا في اليونان", "whose words"),
        ("وفقا لعمر كريم اشترى قاربا في اليونان", "whose words"),
        ("نقلا عن عمر أخي اشترى قاربا", "whose words"),
        ("ذكر عمر أن كريم اشترى قاربا", "whose words"),
        ("Everyone assumes my brother is a doctor.", "whose words"),
        ("Karim: my brother lives in Berlin with me.", "a pasted line"),
        ("[ ] My brother paints the house in Berlin.", "a box that is not ticked"),
        ("I lied about my job at the bank.", "a lie"),
        ("كذبت على عمر وقلت إن أخي طبيب", "a lie"),
        ("I came close to buying a house in Berlin.", "not done"),
        ("I failed to buy the house in Berlin.", "not done"),
        ("Had I known, I bought the house in Berlin.", "not done"),
        ("I'm moving to Berlin for my new job.", "a plan"),
        ("My sister is getting married in June.", "a plan"),
        ("I am to marry Karim in the summer.", "a plan"),
        ("I have booked my flight to Berlin for May.", "a plan"),
        ("من المقرر أن يتزوج أخي في الصيف", "a plan"),
        ("موعد زواج أخي الصيف القادم في روما", "a plan"),
        ("When I am old my house is by the sea.", "a condition"),
        ("Once I finish school I am a doctor.", "a condition"),
        ("My brother lives in either Berlin or Hamburg.", "doubt"),
        ("لست متأكدا أن أخي يعيش في برلين", "doubt"),
        ("Yeah right, my brother is the king of Spain.", "a joke"),
        ("I totally own a castle in Scotland, right.", "a joke"),
        ("I'm starving so badly I ate a horse.", "a joke"),
    ],
)
def test_what_is_no_claim(text: str, why: str) -> None:
    assert texts(text) == [], why


def test_a_sentence_that_is_taken_back_is_no_claim() -> None:
    assert texts("I sold my violin to a neighbour. Scratch that. I bake bread every Sunday morning.") == [
        "I bake bread every Sunday morning."
    ]
    assert takes_back("Never mind, I was wrong about the violin.")
    assert not takes_back("I never minded the rain in Porto.")


def test_a_note_without_a_speaker_must_say_whom_it_is_about() -> None:
    assert texts("Billing API runs on three machines in Frankfurt.", None) == [
        "Billing API runs on three machines in Frankfurt."
    ]
    assert texts("Yesterday Omar moved the Helio database to Frankfurt.", None) != []
    assert texts("The deployment window closes after the backup.", None) == []
    assert texts("Ask Omar for the Helio password before Friday.", None) == []


def test_a_claim_knows_its_place() -> None:
    found = claims(
        "Hello there! I bake sourdough bread every Sunday. My sister works at a bank in Porto.", speaker="Mara"
    )
    assert [(one.place, one.own) for one in found] == [(1, True), (2, True)]


@given(st.text(max_size=400), st.sampled_from(["Mara", None]))
@settings(deadline=None, max_examples=150)
def test_a_claim_is_a_whole_sentence_of_its_text(text: str, speaker: str | None) -> None:
    for one in claims(text, speaker=speaker):
        assert len(one.text) <= MAX_CHARS
        assert "?" not in one.text
        # All but the first letter, the white space and a last comma stand so in the text.
        assert " ".join(one.text[1:-1].split()) in " ".join(text.split())
