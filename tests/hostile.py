"""What somebody could send as Markdown, a library file or a drawing to run something of theirs.

`window.ran` is set by whatever runs. REFUSED is an error of the build; HARMLESS is built, and shows
what was written or nothing.
"""

RUN = "window.ran=1"
_BOOM = "<img src=x onerror='window.ran=1'>"
_TABLES = "/// note | Mind\n    a0: &a0 {x: 1}\n" + "".join(
    f"    a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 9)
)

REFUSED = {
    "a script": f"<script>{RUN}</script>",
    "a script in capitals": f"<SCRIPT>{RUN}</SCRIPT>",
    "a script within a script's name": f"<scr<script>ipt>{RUN}</script>",
    "a handler": _BOOM,
    "a handler after slashes": f"<img/src=x/onerror={RUN}>",
    "a handler over lines": f"<img\nsrc=x\nonerror={RUN}>",
    "a drawing with a script": f'<svg onload="{RUN}"><script>{RUN}</script></svg>',
    "a formula with a link": f'<math><a xlink:href="javascript:{RUN}">x</a></math>',
    "text that changes its meaning": f'<noscript><p title="</noscript>{_BOOM}"></noscript>',
    "a frame": f'<iframe srcdoc="<script>{RUN}</script>"></iframe>',
    "a page that leads away": '<meta http-equiv="refresh" content="0;url=https://e.org/">',
    "another base": '<base href="https://e.org/">',
    "a form": f'<form action="https://e.org/"><button formaction="javascript:{RUN}">x</button>',
    "a style": "<style>body { display: none }</style>",
    "an object": '<object data="x.svg"></object><embed src="x.svg">',
    "a style sheet": "<link rel=stylesheet href=//e.org/x.css>",
    "a template": f"<template>{_BOOM}</template>",
    "a comment that ends early": f"<!-->{_BOOM}-->",
    "a comment that ends oddly": f"<!-- --!>{_BOOM} -->",
    "a section of data": f"<![CDATA[>{_BOOM}]]>",
    "an instruction": f"<?x >{_BOOM}?>",
    "a link that is a script": f"[x](javascript:{RUN})",
    "a link in references": f"[x](&#106;avascript:{RUN})",
    "a link with a tab": f"[x](java\tscript:{RUN})",
    "a link defined below": f"[x][r]\n\n[r]: javascript:{RUN}",
    "a link of data": f"[x](data:text/html,<script>{RUN}</script>)",
    "a link to a blob": '<a href="blob:https://e.org/x">x</a>',
    "a link without a scheme": "[x](//e.org/x)",
    "a link between angles": f"<javascript:{RUN}>",
    "a link that tells of its click": '[x](https://e.org/){: ping="https://e.org/ping" }',
    "a style in braces": 'Words.\n{: style="position:fixed;inset:0" }',
    "a handler in braces": f'Press **this**{{ onclick="{RUN}" }}.',
    "our own marks in braces": '## A title {: data-worker="https://e.org/x.js" }',
    "a handler of a block": f'/// note | Mind\n    attrs: {{onclick: "{RUN}"}}\nThis.\n///',
    "a style of a block": '/// note | Mind\n    attrs: {style: "position:fixed"}\nThis.\n///',
    "the title of a block": f"/// note | {_BOOM}\nThis.\n///",
    "the title of a tab": f"/// tab | <svg onload={RUN}>\nThis.\n///",
    "a footnote": f"Text[^a].\n\n[^a]: {_BOOM}",
    "a heading": f"## {_BOOM}",
    "a cell": f"| a | {_BOOM} |\n|---|---|\n| b | c |",
    "a term": f"??{_BOOM}|bus bandwidth??",
    "a citation": f'[@x"><script>{RUN}</script>]',
    "a number": f'[[speed.time"><script>{RUN}</script>]]',
    "a fence that is none": "``` py <b> !\n\n<p style='position:fixed'>x</p>\n\n```",
    "a fence within a comment": "```x``` y\n\n<p style='position:fixed'>x</p>\n\n<!--\n```\n-->",
    "a fence in a quotation": f"> ```\n> <script>{RUN}</script>\n> ```",
    "a fence in two items": f"- ```\n\n{_BOOM}\n\n- ```",
    "code over paragraphs": f"`a\n\n{_BOOM}\n\nb`",
    "money around a tag": f"It costs \\$5 {_BOOM} \\$6",
    "a formula that opens a fence": f"$$\na\n```\n$$\n{_BOOM}\n```",
    "a picture from elsewhere": "![x](https://e.org/x.png)",
    "a picture of data": "![x](data:image/svg+xml,<svg/>)",
    "a picture outside": "![x](../../../../../../etc/passwd)",
    "a picture with a query": f"![x](a.svg?<script>{RUN}</script>)",
    "an article outside": "[x](../../../../../../etc/passwd)",
    "marks of the build": f"⟦page=javascript:{RUN}⟧ ⟦image=../../x⟧",
    "places of the parser": "\x02wzxhzdk:0\x03",
    "anchors in options": _TABLES + "Text.\n///",
    "a tag of YAML": '/// note | Mind\n    attrs: !!python/object/apply:os.system ["x"]\nA.\n///',
    "brackets without an end": "![" * 5000,
    "parentheses without an end": "[x](" * 3000,
    "lists in lists": "\n".join("    " * n + "- x" for n in range(300)),
}

HARMLESS = {
    "a fence of an odd language": f'```"><script>{RUN}</script>\nx\n```',
    "the title of a fence": f'```python title="</span><script>{RUN}</script>"\nx\n```',
    "a fence with attributes": f'``` {{.python onclick="{RUN}" style="color:red"}}\nx\n```',
    "code": f"`<script>{RUN}</script>`",
    "code in a heading": f"## A `<script>{RUN}</script>` &lt;script&gt;",
    "a tag without an end": f"<img src=x onerror={RUN} ",
    "a tag without an end, with slashes": f"<img src=x onerror={RUN}//",
    "backticks that are text": f"\\`<b>{RUN}</b>\\`",
    "a title that ends its quotes": f'[x](https://e.org/ "\\"onmouseover={RUN} x=\\"")',
    "an address with quotes": f'[x](https://e.org/"onclick="{RUN})',
    "a name of our own": '<a id="engine" href="https://e.org/">x</a>',
    "files to be taken in": '--8<-- "/etc/passwd"\n\n{!/etc/passwd!}\n\n.. include:: /etc/passwd',
    "templates": '{{ 7*7 }} {% include "/etc/passwd" %} {{ config }}',
    "quotations in quotations": "> " * 3000 + "x",
    "stars": "*" * 5000 + "x",
    "angles": "<" * 5000,
}

_SVG = "<svg xmlns='http://www.w3.org/2000/svg'"
DRAWINGS = {
    f"{_SVG}>\n<script>{RUN}</script></svg>": "2: the tag <script>",
    f"{_SVG} onload='{RUN}'/>": "1: the attribute 'onload'",
    f"{_SVG}><foreignObject/></svg>": "1: the tag <foreignObject>",
    f"{_SVG}><a href='javascript:{RUN}'/></svg>": "1: 'javascript:",
    f"{_SVG}><image href='https://e.org/x'/></svg>": "1: 'https://e",
    f"{_SVG}><style>@import 'x';</style></svg>": "1: a style of a",
    f"{_SVG}><rect fill='url(//e.org/x)'/></svg>": "1: 'url(//e.org",
    "<!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><svg>&a;</svg>": "1: <!DOCTYPE is not",
    f"<?xml-stylesheet href='x.css'?>{_SVG}/>": "1: <? is not",
    "<svg": "1: is no SVG: ",
}  # content of a file -> what the build says after its name

# Said before Markdown is read: there is no page of these.
UNREAD = {
    "places of the parser",
    "anchors in options",
    "a tag of YAML",
    "brackets without an end",
    "parentheses without an end",
    "lists in lists",
}
