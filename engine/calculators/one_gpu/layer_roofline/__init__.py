"""One layer under the roofline."""
