import { expect } from 'chai';
import { textOf } from './support/read.ts';

const read = (html: string) => textOf(`<!doctype html><body>${html}</body>`, 'text/html');

describe('A form of a web page', () => {
  it('is read with what its fields show, behind their labels', async () => {
    const form = `<p><label>Keeper <INPUT NAME=k VALUE="Odile &quot;Q&quot; Ng &lt;North>"></label></p>
<table><tr><th>Hive<td><select><option value="">Please choose<option value=1>Orchard<option value=2 selected>Lime &amp; Heath</select>
<tr><th>Since<td><input type=date value=2026-05-04></table>
<p><input type=checkbox checked> Fed <input type="checkbox" id=t><label for=t>Treated</label></p>
<p><input type=radio name=q> weak <input type=radio name=q checked="checked"> strong</p>
<p><label>Remarks <textarea rows=2>
Swarmed on Friday.
New queen &lt; 1 year.</textarea></label></p>`;
    const shown = [
      'Keeper Odile "Q" Ng <North>',
      '| Hive | Lime & Heath |\n| Since | 2026-05-04 |',
      '[x] Fed [ ] Treated',
      '[ ] weak [x] strong',
      'Remarks Swarmed on Friday.\nNew queen < 1 year.',
    ];
    expect(await read(form)).to.equal(shown.join('\n\n'));
    // One that nests too deeply is read by its tags alone.
    const words = (text: string) => text.match(/\[.\]|[\p{L}\p{N}<"&-]+/gu);
    expect(words(await read(`${'<font>'.repeat(400)}${form}`))).to.deep.equal(words(shown.join('\n')));
  });

  it('is read with what a list shows: its first option, all that are chosen, and none that only asks', async () => {
    const lists: Record<string, string> = {
      '<select><option>Heather<option>Clover</select>': 'Heather',
      '<select><option value="">choose one</option><option>Clover</option></select>': '',
      '<select multiple><optgroup label=x><option selected>Heather</option></optgroup><option>Lime<option selected label=Rape>R</select>':
        'Heather, Rape',
      '<select size=3><option>Heather<option>Clover</select>': '',
      '<select><option disabled>Choose one<option>Clover<option>Lime</select>': 'Clover',
      '<select><option label="">Heather<option label="" selected>Orchard</select>': 'Orchard',
    };
    for (const [list, shown] of Object.entries(lists)) expect(await read(`<p>Honey ${list}`), list).to.equal(`Honey ${shown}`.trim());
  });

  it('is read with the first value that a field names, and with a text that has no end', async () => {
    expect(await read('<p>Hive <input value=7 VALUE=8></p>')).to.equal('Hive 7');
    expect(await textOf('<p>Remarks</p><textarea>Swarmed on <b>Friday', 'text/html')).to.equal('Remarks\n\nSwarmed on <b>Friday');
  });

  it('is read with all that stands behind a field that has no end, or no content', async () => {
    const rest = '<h2>Results</h2><p>Honey 40 kg</p>';
    const pages = {
      [`<p>Hive <select><option>A<option selected>B</p><p><input value=one></p>${rest}<p>Next <select><option>C</select></p><p>end</p>`]:
        'Hive one Results Honey 40 kg Next C end',
      [`<p>Hive <select><option>A</p>${rest}<p>Next <select><option>C</select></p>`]: 'Hive Results Honey 40 kg Next C',
      '<div>Hive <select><option>A<textarea>B</textarea> kept</div>': 'Hive B kept',
      '<div>Hive <select/> kept <textarea/> too</div>': 'Hive kept too',
      [`<p>Hive <select/></p>${rest}<p>Next <select><option>C</select></p>`]: 'Hive Results Honey 40 kg Next C',
      [`<p>Hive <textarea rows="2" /></p>${rest}<script>var x = 1</script><p>Next <textarea>C</textarea></p>`]:
        'Hive Results Honey 40 kg Next C',
    };
    for (const [page, shown] of Object.entries(pages)) expect((await read(page)).replace(/\s+/g, ' '), page).to.equal(shown);
  });

  it('is read without what it hides, passwords and the names of its buttons', async () => {
    const fields = `<input type=hidden value=token><input type=password value=secret><input value=far style="display: none"><input hidden value=h>
<div hidden><input value=inside></div><input type=submit value=Send><button>Clear</button><input placeholder=hint><script>'<input value=code>'</script>
<!-- <input value=comment> --><textarea style="display:none">draft</textarea>`;
    expect(await read(`<p>Hive 7</p>${fields}`)).to.equal('Hive 7');
  });
});
