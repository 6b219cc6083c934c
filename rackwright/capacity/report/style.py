"""The page's style: one palette for light, one for dark, and paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --card: #f6f7f9; --ink: #1a1f27; --soft: #5a6472; --line: #dde1e7;
  --good: #1a7f4b; --bad: #b42318;
  --tone0: #e3e7ec; --tone1: #2f6fdb; --tone2: #d9731a; --tone3: #8a5cd0; --tone4: #b0306a; --tone5: #2a9a8a;
  --onpart: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12151a; --card: #1a1f26; --ink: #e8ebf0; --soft: #a3adba; --line: #323a45;
    --good: #4cc38a; --bad: #ff8a7a;
    --tone0: #2b323c; --tone1: #6ba3ff; --tone2: #f2a65a; --tone3: #b79bf0; --tone4: #f08ab8; --tone5: #5fd0bd;
    --onpart: #10141a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.5rem 3rem; max-width: 76rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums;
}
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.3rem; margin: 2.4rem 0 .6rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .3rem; } h4 { font-size: .95rem; margin: 0 0 .4rem; }
p { margin: .3rem 0; max-width: 68ch; } .soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem; margin: .8rem 0; }
.card, figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; }
.card b { display: block; font-size: 1.5rem; line-height: 1.25; } .card span { color: var(--soft); font-size: .85rem; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(26rem, 1fr)); gap: 1rem; margin: .8rem 0; }
figure { margin: 0; } figure.wide { grid-column: 1 / -1; } figcaption { color: var(--soft); font-size: .85rem; }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 12px; }
svg .tick, svg .axis { fill: var(--soft); } svg .note { font-size: 11.5px; paint-order: stroke; stroke: var(--card);
  stroke-width: 3px; } svg .onpart { fill: var(--onpart); font-weight: 600; } svg .onfree { fill: var(--soft); }
svg .grid { stroke: var(--line); } svg .target { stroke: var(--soft); stroke-dasharray: 5 4; }
svg .limit { stroke: var(--bad); stroke-width: 2; } svg .load { stroke: var(--soft); stroke-dasharray: 2 3; }
svg .curve { fill: none; stroke-width: 2.2; } svg .faint { stroke-width: 1.2; stroke-dasharray: 4 3; }
svg .band { opacity: .16; stroke: none; } svg .now { fill: var(--ink); stroke: var(--card); stroke-width: 2; }
svg .other { fill: var(--soft); opacity: .6; }
svg .curve.tone1 { stroke: var(--tone1); } svg .curve.tone2 { stroke: var(--tone2); }
svg .curve.tone3 { stroke: var(--tone3); }
svg .part.tone0 { fill: var(--tone0); } svg :is(.part, .band, .point).tone1 { fill: var(--tone1); }
svg :is(.part, .band, .point).tone2 { fill: var(--tone2); } svg .part.tone3 { fill: var(--tone3); }
svg .part.tone4 { fill: var(--tone4); } svg .part.tone5 { fill: var(--tone5); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; list-style: none; margin: .4rem 0 0; padding: 0;
  font-size: .85rem; color: var(--soft); }
.swatch { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .4rem;
  vertical-align: -1px; border: 1px solid var(--line); }
.swatch.tone0 { background: var(--tone0); } .swatch.tone1 { background: var(--tone1); }
.swatch.tone2 { background: var(--tone2); } .swatch.tone3 { background: var(--tone3); }
.swatch.tone4 { background: var(--tone4); } .swatch.tone5 { background: var(--tone5); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin: .5rem 0; font-size: .9rem; }
th, td { text-align: right; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } th:first-child, td:first-child { text-align: left; }
td { white-space: nowrap; } td.words, th.words { text-align: left; } td.words { white-space: normal; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
ul.notes { margin: .3rem 0; padding-left: 1.1rem; color: var(--soft); font-size: .88rem; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .85rem; border-top: 1px solid var(--line);
  padding-top: 1rem; }
@media (max-width: 30rem) { .pictures { grid-template-columns: 1fr; } }
@media print {
  :root {
    --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --good: #1a7f4b; --bad: #b42318;
    --tone0: #e3e7ec; --tone1: #2f6fdb; --tone2: #d9731a; --tone3: #8a5cd0; --tone4: #b0306a; --tone5: #2a9a8a;
    --onpart: #fff;
  }
  body { padding: 0; font-size: 10.5pt; max-width: none; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  figure, .card, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .cards { grid-template-columns: repeat(4, 1fr); } .card b { font-size: 14pt; }
  figure h4 { font-size: 9pt; } table, ul.notes, .legend { font-size: 8.5pt; }
  figure:not(.wide) svg text { font-size: 13px; }
  .pictures { grid-template-columns: 1fr 1fr; } h2.phase { break-before: page; } h2.phase.first { break-before: auto; }
  .scroll { overflow: visible; }
}
"""
