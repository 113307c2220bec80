"""The style sheet of the page around the drawing."""

from string import Template
from typing import Final

RULES: Final = Template("""
*{box-sizing:border-box}body{margin:0 auto;padding:1.6rem clamp(.9rem,3vw,2.4rem) 3rem;max-width:1360px;
background:$paper;color:$ink;font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{font-size:clamp(1.9rem,4.6vw,2.7rem);line-height:1.1;margin:.15rem 0 .3rem;letter-spacing:-.015em}
.pair h1{font-size:clamp(1.6rem,3vw,2.3rem)}h2{font-size:1.1rem;margin:2rem 0 .5rem}
p{margin:.2rem 0;max-width:48rem}.soft,small{color:$soft}header .soft{max-width:none}
.G{color:$good}.W{color:$fair}.B{color:$bad}.lead{font-size:1.05rem}
dl{display:flex;flex-wrap:wrap;gap:.6rem 1.4rem;margin:1.1rem 0 1.4rem}
dt{color:$soft;font-size:.8rem}dd{margin:0;font-size:1.1rem;font-weight:600;font-variant-numeric:tabular-nums}
figure{margin:1rem 0}svg{display:block;width:100%;height:auto}.narrow{display:none}
.defs{position:absolute;width:0;height:0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{text-align:left;padding:.3rem 1.2rem .3rem 0;
vertical-align:top;border-bottom:1px solid $grid}th{color:$soft;font-weight:400;font-size:.85rem}
.scroll{overflow-x:auto}code{font:.87em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
pre{background:$panel;padding:.7rem .9rem;border-radius:4px;white-space:pre-wrap;margin:.4rem 0}
li{margin:.25rem 0;max-width:48rem}ol,ul{padding-left:1.3rem;margin:.3rem 0}
.advice{border-left:3px solid $edge;padding:.1rem 0 .1rem .9rem;margin:.9rem 0}.advice p{max-width:44rem}
del{color:$soft}ins{text-decoration:none;font-weight:600}
summary{cursor:pointer;margin:1.4rem 0 .4rem}footer{margin-top:2.4rem;border-top:1px solid $grid;padding-top:.8rem}
@media (min-width:1000px){.pair{display:grid;grid-template-columns:1fr 1fr;gap:0 3rem}}
@media (max-width:640px){.wide{display:none}.narrow{display:block}dl{display:grid;grid-template-columns:1fr 1fr}
table{font-size:.92rem}th,td{padding-right:.7rem;overflow-wrap:anywhere}td:first-child{overflow-wrap:normal}
.rows,.rows tbody,.rows tr,.rows td{display:block}.rows tr:first-child{display:none}.rows td{border:0;padding:.1rem 0}
.rows tr{border-bottom:1px solid $grid;padding:.4rem 0}.rows td::before{content:attr(data-of) " ";color:$soft}}
@media print{html{font-size:11px}body{padding:0;font-size:1rem}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.wide{display:block}.narrow{display:none}.advice,li,tr,dl{break-inside:avoid}h2{break-after:avoid}}
""")
