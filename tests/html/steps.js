// SPDX-License-Identifier: GPL-2.0-or-later
// Uses the page as a reader does. Appends a line for each check, and "done" at the end.
'use strict';
(() => {
const log = document.createElement('pre');
log.id = 'steps';
const check = (name, correct, detail) => {
  log.append(`${correct ? 'ok' : 'not ok'} - ${name}${correct ? '' : ': ' + detail}\n`);
};
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const press = (element, key) =>
    element.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
const widthOf = (svg) => parseFloat(svg.getAttribute('width'));

// Markup in a name has no effect.
check('title', document.title.endsWith('htmtrace report'), document.title);
check('scripts', all('script').length === 2, all('script').length);

// Light and dark mode have different colors.
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const light = (color) => color.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) > 384;
const style = getComputedStyle(document.body);
check('background', light(style.backgroundColor) === !dark, style.backgroundColor);
check('text', light(style.color) === dark, style.color);
all('.heat text').slice(0, 5).forEach((text) => {
  const fill = getComputedStyle(text).fill;
  check('text of the heat map', light(fill) === dark, fill);
});
check('mode ' + (dark ? 'dark' : 'light'), true);

// Only tables and pictures scroll sideways.
check('width', document.documentElement.scrollWidth <= window.innerWidth,
      document.documentElement.scrollWidth + ' > ' + window.innerWidth);

// Sorting.
const table = all('table').find((one) => one.tBodies[0].rows.length > 3);
const column = (index) => Array.from(table.tBodies[0].rows, (row) => row.cells[index].textContent);
const before = column(0);
const button = table.tHead.querySelector('button');
button.focus();
check('a heading has the focus', document.activeElement === button, document.activeElement.tagName);
button.click();
const down = column(0).map(Number);
check('descending', down.every((value, at) => at === 0 || down[at - 1] >= value), down.slice(0, 9));
check('aria-sort', button.parentNode.getAttribute('aria-sort') === 'descending', '');
button.click();
const up = column(0).map(Number);
check('ascending', up.every((value, at) => at === 0 || up[at - 1] <= value), up.slice(0, 9));
check('the order changes', up.join() !== down.join(), up.slice(0, 9));
button.click();
check('the original order', column(0).join() === before.join(), column(0).slice(0, 9));

// Search.
const field = document.getElementById('search');
const frames = all('.flames > svg');
const search = (text) => {
  field.value = text;
  field.dispatchEvent(new Event('input'));
};
check('the search is visible', field.offsetParent !== null, '');
const names = Array.from(table.tBodies[0].rows, (row) => row.cells[row.cells.length - 1].textContent);
const wanted = names.find((name) => name.length > 3) || before[0];
search(wanted.toUpperCase());
const shown = all('tbody tr').filter((row) => !row.hidden);
check('search finds lines', shown.length > 0 && shown.length < all('tbody tr').length, shown.length);
check('search finds only its text',
      shown.every((row) => row.textContent.toLowerCase().includes(wanted.toLowerCase())), wanted);
check('search reports the number', document.getElementById('found').textContent.startsWith(shown.length + ' line'),
      document.getElementById('found').textContent);
search('no such text');
check('search without result', all('tbody tr').every((row) => row.hidden), '');
press(field, 'Escape');
check('Escape ends the search', all('tbody tr').every((row) => !row.hidden) && field.value === '', '');

// The flame graph. A nest trace has none.
if (frames.length > 3) {
  const first = frames[1];
  search(first.querySelector('title').textContent.split('\n')[0]);
  check('search marks frames', first.classList.contains('hit'), '');
  search('');
  check('one frame is in the order of Tab', frames.filter((one) => one.tabIndex === 0).length === 1, '');
  frames[0].focus();
  check('a frame has the focus', document.activeElement === frames[0], '');
  press(document.activeElement, 'ArrowDown');
  check('the arrow moves down', document.activeElement.getAttribute('y') === '17', '');
  check('details', document.getElementById('frame').textContent.includes('instruction'), '');
  press(document.activeElement, 'ArrowUp');
  check('the arrow moves up', document.activeElement === frames[0], '');
  const narrow = frames.filter((one) => widthOf(one) > 0.5).sort((a, b) => widthOf(a) - widthOf(b))[0];
  const width = widthOf(narrow);
  narrow.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  check('a click enlarges a frame', Math.abs(widthOf(narrow) - 100) < 1e-6, widthOf(narrow));
  check('its callers fill the row', frames[0].classList.contains('above') && widthOf(frames[0]) === 100, '');
  check('it has its name', narrow.querySelector('text') !== null, '');
  check('other frames are hidden', frames.some((one) => one.style.display === 'none'), '');
  press(document.activeElement, 'Escape');
  check('Escape shows all frames', frames.every((one) => one.style.display !== 'none'), '');
  check('the frame has its width again', Math.abs(widthOf(narrow) - width) < 1e-6, widthOf(narrow));
}
log.append('done\n');
document.body.append(log);
})();
