// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts tables, searches tables and the flame graph, and zooms in the flame graph. Without scripts,
// the page shows everything.
#include "output/page/html_page.h"

namespace htmtrace {

// `tests/cli/page_test` prints the hash of a changed script.
const char* const kScriptHash = "sha256-FwvM6/0EN3A7YRBhLh/+PMPFNEvmOxb+BzcMHJwV/hs=";

const char* page_script() {
  return R"js('use strict';
(() => {
const each = (list, act) => Array.prototype.forEach.call(list, act);
const flames = document.querySelector('.flames');

function sortable(table) {
  const body = table.tBodies[0], rows = Array.from(body.rows);
  if (rows.length < 2) return;
  const heads = table.tHead.rows[0].cells;
  each(heads, (head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    head.setAttribute('aria-sort', 'none');
    const numeric = head.classList.contains('n');
    const order = numeric ? ['descending', 'ascending', 'none'] : ['ascending', 'descending', 'none'];
    button.addEventListener('click', () => {
      const next = order[(order.indexOf(head.getAttribute('aria-sort')) + 1) % 3];
      each(heads, (other) => other.setAttribute('aria-sort', 'none'));
      head.setAttribute('aria-sort', next);
      const key = (row) => {
        const text = row.cells[column].textContent;
        return numeric ? parseFloat(text) || 0 : text;
      };
      const sorted = rows.slice();
      if (next !== 'none') {
        const sign = next === 'ascending' ? 1 : -1;
        sorted.sort((a, b) => {
          const x = key(a), y = key(b);
          return x < y ? -sign : x > y ? sign : 0;
        });
      }
      body.append(...sorted);
    });
  });
}

let frames = [];
function readFrames() {
  frames = Array.from(flames.children, (svg) => {
    const at = (name) => parseFloat(svg.getAttribute(name));
    const title = svg.querySelector('title').textContent;
    return {svg, x: at('x'), row: at('y'), width: at('width'), title, name: title.split('\n')[0],
            shown: true};
  });
}
const holds = (outer, inner) =>
    outer.x <= inner.x + 1e-4 && outer.x + outer.width >= inner.x + inner.width - 1e-4;

function zoom(focus) {
  frames.forEach((frame) => {
    const above = frame.row < focus.row && holds(frame, focus);
    const x = above ? 0 : (frame.x - focus.x) / focus.width * 100;
    const width = above ? 100 : frame.width / focus.width * 100;
    frame.shown = above || (frame.row >= focus.row && holds(focus, frame));
    frame.svg.style.display = frame.shown ? '' : 'none';
    frame.svg.classList.toggle('above', above);
    frame.svg.setAttribute('x', x + '%');
    frame.svg.setAttribute('width', width + '%');
    let text = frame.svg.querySelector('text');
    if (!text && width >= 1.2) {
      text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
      text.setAttribute('x', 3);
      text.setAttribute('y', 12);
      text.textContent = frame.name;
      frame.svg.append(text);
    }
  });
}

function flameGraph() {
  readFrames();
  const detail = document.getElementById('frame');
  let current = frames[0];
  const select = (frame, focus) => {
    if (!frame) return;
    current.svg.tabIndex = -1;
    current = frame;
    current.svg.tabIndex = 0;
    detail.textContent = frame.title.replace(/\n/g, ': ');
    if (focus) frame.svg.focus();
  };
  const neighbor = (key) => {
    const near = frames.filter((frame) => frame.shown);
    if (key === 'ArrowUp') {
      return near.filter((f) => f.row < current.row && holds(f, current)).pop();
    }
    if (key === 'ArrowDown') return near.find((f) => f.row > current.row && holds(current, f));
    const row = near.filter((f) => f.row === current.row).sort((a, b) => a.x - b.x);
    return row[row.indexOf(current) + (key === 'ArrowRight' ? 1 : -1)];
  };
  frames.forEach((frame) => {
    frame.svg.tabIndex = frame === current ? 0 : -1;
    frame.svg.setAttribute('role', 'button');
    frame.svg.addEventListener('focus', () => select(frame, false));
    frame.svg.addEventListener('click', () => { select(frame, true); zoom(frame); });
  });
  flames.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') zoom(current);
    else if (event.key === 'Escape') { zoom(frames[0]); select(frames[0], true); }
    else if (event.key.startsWith('Arrow')) select(neighbor(event.key), true);
    else return;
    event.preventDefault();
  });
}

function search(text) {
  const wanted = text.trim().toLowerCase();
  let lines = 0;
  each(document.querySelectorAll('tbody tr'), (row) => {
    row.hidden = wanted !== '' && !row.textContent.toLowerCase().includes(wanted);
    if (!row.hidden) lines++;
  });
  let percent = 0, inside = [];
  frames.forEach((frame, index) => {
    const hit = wanted !== '' && index !== 0 && frame.name.toLowerCase().includes(wanted);
    frame.svg.classList.toggle('hit', hit);
    // A match below a match counts once.
    if (hit && !inside.some((outer) => outer.row < frame.row && holds(outer, frame))) {
      inside.push(frame);
      percent += frame.width;
    }
  });
  if (flames) flames.classList.toggle('searching', wanted !== '');
  document.getElementById('found').textContent = wanted === '' ? '' :
      lines + (lines === 1 ? ' line' : ' lines') +
      (flames ? ', ' + percent.toFixed(2) + '% of the instructions in matching stacks' : '');
}

each(document.querySelectorAll('table'), sortable);
if (flames) flameGraph();
const field = document.getElementById('search');
document.querySelector('.search').hidden = false;
field.addEventListener('input', () => search(field.value));
field.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') { field.value = ''; search(''); }
});
})();
)js";
}

}  // namespace htmtrace
