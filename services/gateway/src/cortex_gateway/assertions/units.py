"""Units: the dimension of each and its size in the dimension's base unit (English and Arabic, in compared form)."""

from __future__ import annotations

from typing import Final

from cortex_decision.folding import fold

_TABLE: Final = """
time 1e-6 us µs microsecond
time 0.001 ms msec millisecond ملي_ثانيه
time 1 s sec second ثانيه
time 60 min minute دقيقه
time 3600 h hr hour ساعه
time 86400 d day يوم
time 1209600 fortnight
time 315569520 decade عقد_زمني
time 604800 w wk week اسبوع
time 2629746 month mo شهر
time 31556952 y yr year سنه عام
bytes 1 b byte بايت
bytes 1e3 kb kib kilobyte كيلوبايت
bytes 1e6 mb mib megabyte ميغابايت ميجابايت
bytes 1e9 gb gib gigabyte gig غيغابايت جيجابايت غيغا جيجا جيغابايت
bytes 1e12 tb tib terabyte تيرابايت تيرا
rate 1e3 kbps kbit/s
rate 1e6 mbps mbit/s ميجابت ميغابت
rate 1e9 gbps gbit/s جيجابت غيغابت
rate 8e6 mb/s
rate 8e9 gb/s
frequency 1 hz hertz
frequency 1e3 khz
frequency 1e6 mhz
frequency 1e9 ghz
length 0.001 mm millimetre millimeter
length 0.01 cm centimetre centimeter سم سنتيمتر
length 1 m metre meter متر
length 1000 km kilometre kilometer كم كيلومتر كيلومترا
length 1609.344 mile mi
length 0.3048 ft foot feet
length 0.0254 inch
area 10000 ha hectare هكتار
area 1e6 km2 km²
area 1 m² m2 sqm م2
mass 1e-6 mg milligram ملغ مليغرام
mass 1e-9 mcg µg microgram
mass 0.001 g gram غرام جرام
mass 1 kg kilogram kilo كيلوغرام كيلوجرام كيلو
mass 1000 tonne ton t طن
mass 0.45359237 lb pound_mass
volume 0.001 ml millilitre milliliter
volume 0.01 cl centilitre centiliter
volume 1000 m3 m³
volume 3.785 gallon
volume 1 l litre liter لتر
power 1e6 mw megawatt
power 1 watt واط
power 1000 kw kilowatt كيلوواط
energy 1 kwh
speed 1 km/h kph kmh
speed 1.609344 mph
pressure 1 bar
voltage 1000 kv
voltage 1 v volt فولت
temperature 1 °c c celsius درجه درجه_مئويه مئويه degree
temperature_f 1 °f fahrenheit
share 0.01 % percent pct percentage_points بالميه بالمايه في_الميه في_المايه بالمييه ٪
money_eur 1 eur euro € يورو
money_usd 1 usd dollar $ buck دولار
money_gbp 1 gbp £ pound quid
money_sar 1 sar ريال
money_egp 1 egp جنيه
money_aed 1 aed درهم
money_jod 1 jod دينار
money_jpy 1 jpy yen ¥
pixels 1 px pixel بكسل
cores 0.001 millicore
"""
UNITS: Final = {
    word: (line.split()[0], float(line.split()[1]))
    for line in fold(_TABLE).strip().splitlines()
    for word in line.split()[2:]
}
"""(dimension, size) of each unit."""
BINARY: Final = {"kb": 1024.0, "mb": 1024.0**2, "gb": 1024.0**3, "tb": 1024.0**4}
"""The other reading of a decimal unit of bytes; `kib` and its like have only this one."""
MULTIPLES: Final = {
    "k": 1e3, "thousand": 1e3, "الف": 1e3, "الاف": 1e3, "تلاف": 1e3, "million": 1e6, "mn": 1e6, "مليون": 1e6,
    "ملايين": 1e6, "billion": 1e9, "bn": 1e9, "مليار": 1e9, "dozen": 12.0, "hundred": 100.0, "دزينه": 12.0,
}  # fmt: skip
"""Words that multiply the number before them."""
EVERY: Final = {
    "hourly": 3600.0, "daily": 86_400.0, "nightly": 86_400.0, "weekly": 604_800.0, "fortnightly": 1_209_600.0,
    "monthly": 2_629_746.0, "yearly": 31_556_952.0, "annually": 31_556_952.0,
    "يوميا": 86_400.0, "اسبوعيا": 604_800.0, "شهريا": 2_629_746.0,
    "سنويا": 31_556_952.0,
}  # fmt: skip
"""Seconds between two times of what happens so."""
