"""Lists of the pages for programs."""

import xml.etree.ElementTree as xml

BASE = "https://example.org/w/"


def test_the_feed_names_dated_pages_newest_first(finished):
    built = finished.build(base_url=BASE)
    feed = xml.fromstring(built.output["feed.xml"])
    atom = "{http://www.w3.org/2005/Atom}"
    dates = [entry.findtext(f"{atom}updated") for entry in feed.iter(f"{atom}entry")]
    assert dates
    assert dates == sorted(dates, reverse=True)
    assert all(one.text.startswith(BASE) for one in feed.iter(f"{atom}id"))


def test_a_site_without_an_address_has_no_feed(finished):
    assert "feed.xml" not in finished.build().output


def test_llms_txt_links_pages_that_exist(finished):
    built = finished.build(base_url=BASE)
    text = built.output["llms.txt"].decode()
    links = [part.partition(")")[0] for part in text.split(f"]({BASE}")[1:]]
    assert links
    assert {*links} <= {*built.output}
