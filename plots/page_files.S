/* SPDX-License-Identifier: BSD-3-Clause */
/* The report's page, as it is in plots/page: the program carries it. */
        .section .rodata
        .global page_html, page_html_end, page_css, page_css_end, page_js, page_js_end
page_html:
        .incbin "page.html"
        .byte 0
page_html_end:
page_css:
        .incbin "page.css"
page_css_end:
page_js:
        .incbin "util.js"
        .incbin "model.js"
        .incbin "timeline.js"
        .incbin "input.js"
        .incbin "charts.js"
        .incbin "tables.js"
        .incbin "main.js"
page_js_end:
        .section .note.GNU-stack,"",%progbits
