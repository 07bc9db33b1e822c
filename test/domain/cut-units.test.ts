import { expect } from 'chai';
import { cutJsonUnits } from '../../domain/answers/cut-json-units.ts';
import { cutRecords, cutUnits, readable } from '../../domain/answers/cut-units.ts';
import { contextOf } from '../../domain/answers/unit-context.ts';

function cut(text: string, headings: number[] = []): string[] {
  return cutUnits(text, headings).map(({ kind, start, end }) => `${kind}: ${text.slice(start, end)}`);
}

describe('The units of a text', () => {
  it('are its sentences, wherever lines and paragraphs break', () => {
    expect(cut('Die Miete ist nicht am\n3. Mai fällig. Sie steigt\nnie.')).to.deep.equal([
      'sentence: Die Miete ist nicht am\n3. Mai fällig.',
      'sentence: Sie steigt\nnie.',
    ]);
    expect(cut('The tenant pays\n\nunless he has left. He stays.')).to.deep.equal([
      'sentence: The tenant pays\n\nunless he has left.',
      'sentence: He stays.',
    ]);
    expect(cut('Pages 10\n- 12 are missing.')).to.deep.equal(['sentence: Pages 10\n- 12 are missing.']);
  });

  it('are items, whole, and headings', () => {
    const text = '# Rules\nBring:\n- a lamp. It is\n  dark.\n- rope\n\n1. Stay.\n2. Wait.';
    expect(cut(text)).to.deep.equal([
      'heading: # Rules',
      'sentence: Bring:',
      'item: - a lamp. It is\n  dark.',
      'item: - rope',
      'item: 1. Stay.',
      'item: 2. Wait.',
    ]);
    expect(cut('Title\nText here.', [0])).to.deep.equal(['heading: Title', 'sentence: Text here.']);
  });

  it('are rows, which know the heads of their cells', () => {
    const text = 'Prices of lamps.\n\n| Model | Weight |\n|---|---|\n| K1 | 410 g |\n| K\\|2 | |';
    const units = cutUnits(text, []);
    expect(units.map(({ kind }) => kind)).to.deep.equal(['sentence', 'heading', 'row', 'row']);
    expect(units.slice(2).map((unit) => readable(text, unit))).to.deep.equal(['Model: K1 · Weight: 410 g', 'Model: K|2']);
    const numbers = '| 1 | 2 |\n| 3 | 4 |';
    expect(cutUnits(numbers, []).map((unit) => readable(numbers, unit))).to.deep.equal(['1 · 2', '3 · 4']);
  });

  it('are rows below consecutive years, and no other numbers', () => {
    const headsOf = (head: string) =>
      cutUnits(`${head}\n| Research | 450 | 480 |`, []).map(({ kind, cells }) => [kind, cells.at(-1)?.head]);
    const [named, unnamed] = [
      [
        ['heading', ''],
        ['row', '2026'],
      ],
      [
        ['row', ''],
        ['row', ''],
      ],
    ];
    for (const head of ['| Department | 2025 | 2026 |', '| | 2027 | 2026 |']) expect(headsOf(head), head).to.deep.equal(named);
    for (const head of ['| Marketing | 1900 | 2026 |', '| Marketing | 2026 |', '| Marketing | 120 | 121 |', '| 2024 | 2025 | 2026 |'])
      expect(headsOf(head), head).to.deep.equal(unnamed);
    const [head, rest] = ['Department,2025,2026\n', 'Research,450,480\n'];
    expect(cutRecords(head + rest, head).map((unit) => readable(head + rest, unit))).to.deep.equal([
      'Department: Research · 2025: 450 · 2026: 480',
    ]);
  });

  it('take about as long to cut from a wide table as from its characters', () => {
    const text = `|${Array.from({ length: 14_000 }, (_, index) => `c${index}`).join('|')}|\n${'|b|\n'.repeat(14_000)}`;
    const begun = performance.now();
    expect(cutUnits(text, []).at(-1)?.cells).to.deep.equal([{ head: 'c0', text: 'b' }]);
    expect(performance.now() - begun).to.be.below(3_000);
  });

  it('are records of CSV, also from the middle of the document', () => {
    const [head, rest] = ['name,stock\n', 'oak,5\n"elm, old",7\n'];
    const whole = head + rest;
    expect(cutRecords(whole, head).map((unit) => readable(whole, unit))).to.deep.equal([
      'name: oak · stock: 5',
      'name: elm, old · stock: 7',
    ]);
    const units = cutRecords(rest, head);
    expect(units.map(({ start, end }) => rest.slice(start, end))).to.deep.equal(['oak,5', '"elm, old",7']);
    expect(readable(rest, units[1] as (typeof units)[number])).to.equal('name: elm, old · stock: 7');
  });

  it('are records of JSON, other values with the keys that lead to them, and sentences of a long one', () => {
    const lamps = [
      { model: 'K1', weight: '410 g', size: { cm: 12 }, colours: ['red', 'blue'], note: 'Not for \\ "wet" rooms.\nKeep dry.' },
      { model: 'K2', weight: '520 g', size: { cm: 15 }, colours: [], note: null },
    ];
    const value = { shop: { name: 'Quay & Sons', address: { city: 'Kiel' } }, lamps };
    for (const indent of [undefined, 2]) {
      const text = JSON.stringify(value, null, indent);
      const units = cutJsonUnits(text);
      expect(units.map((unit) => readable(text, unit))).to.deep.equal([
        'name: Quay & Sons',
        'city: Kiel',
        'model: K1 · weight: 410 g · size.cm: 12 · colours: red · colours: blue',
        'Not for \\ "wet" rooms.',
        'Keep dry.',
        'model: K2 · weight: 520 g · size.cm: 15',
      ]);
      const shown = units.map(({ start, end }) => text.slice(start, end));
      expect(shown[1]).to.match(/^"city": ?"Kiel"$/);
      expect(shown[2]).to.match(/^"model": ?"K1",.*"blue"$/s);
      expect(shown.slice(3, 5)).to.deep.equal(['Not for \\\\ \\"wet\\" rooms.', 'Keep dry.']);
      expect(contextOf(text, units, 1)).to.deep.include({ parents: ['shop', 'address'], cells: [{ head: 'city', text: 'Kiel' }] });
      expect(contextOf(text, units, 4)).to.deep.include({ parents: ['lamps', 'note'], before: shown[3], after: null, lead: shown[2] });
    }
  });

  it('are the texts of a file with JSON in each line, rows of arrays, and single values', () => {
    for (const [text, expected] of [
      ['{"id":1,"n":"A"}\n{"id":2,"n":"B"}', ['id: 1 · n: A', 'id: 2 · n: B']],
      ['[["K1",410],["K2",520]]', ['K1 · 410', 'K2 · 520']],
      ['["Bring a lamp.","Bring rope."]', ['Bring a lamp.', 'Bring rope.']],
      ['"Paid."', ['Paid.']],
      ['[[[', []],
    ] as const)
      expect(
        cutJsonUnits(text).map((unit) => readable(text, unit)),
        text,
      ).to.deep.equal(expected);
  });

  it('name the head of a column by its beginning, however long it is', () => {
    const text = `| Model | ${'Weight '.repeat(1_000)}|\n| --- | --- |\n| K1 | 410 g |`;
    const units = cutUnits(text, []);
    const { cells } = contextOf(text, units, units.length - 1);
    expect(cells.map(({ head, text }) => [head.length, text])).to.deep.equal([
      [5, 'K1'],
      [1_000, '410 g'],
    ]);
  });

  it('are those of a part of JSON without a key that is cut off', () => {
    const text = 'ps":[{"model":"K1","weight":"410 g"},{"model":"K2","wei';
    const units = cutJsonUnits(text, { opening: '"', isBegun: true, goesOn: true });
    expect(units.map((unit) => readable(text, unit))).to.deep.equal(['model: K1 · weight: 410 g', 'model: K2']);
    expect(contextOf(text, units, 0).parents).to.deep.equal([]);
  });

  it('are sentences of JSON in letters without escapes, whichever it has', () => {
    const sentences = ['Größe: "30/40".', 'Über 5 °C\n\nist es 😀 \\ warm.', 'Émile kam nicht.', '料金は無料です。', 'Tab\there?'];
    const plain = JSON.stringify(sentences.join(' '));
    const hex = (unit: string) => unit.charCodeAt(0).toString(16).padStart(4, '0');
    const ascii = plain.replace(/[^\x20-\x7e]/g, (unit) => `\\u${hex(unit)}`);
    const upper = plain.replace(/[^\x20-\x7e]/g, (unit) => `\\u${hex(unit).toUpperCase()}`);
    for (const text of [plain, plain.replaceAll('/', '\\/'), ascii, upper]) {
      const units = cutJsonUnits(text);
      expect(units.map((unit) => readable(text, unit))).to.deep.equal(sentences);
      expect(units.map(({ start, end }) => JSON.parse(`"${text.slice(start, end)}"`))).to.deep.equal(sentences);
    }
  });

  it('are sentences of JSON at their places beside what is no escape, and at an end that is cut off', () => {
    const text = '["It is \\x so. The \\u12 one. The rest is c';
    const units = cutJsonUnits(text, { goesOn: true });
    expect(units.map(({ start, end }) => text.slice(start, end))).to.deep.equal(['It is \\x so.', 'The \\u12 one.', 'The rest is c']);
  });

  it('know the row before them in a part of JSON that begins within a string', () => {
    const text = 'ps","lamps":[{"model":"K1","note":"Not for wet rooms. Keep dry."}]}';
    for (const opening of ['"', '"\\']) {
      const units = cutJsonUnits(text, { opening, isBegun: true });
      expect(units.map((unit) => contextOf(text, units, units.indexOf(unit)).lead)).to.include('"model":"K1"');
    }
  });

  it('take about as long to cut from many values as from their characters', () => {
    const text = `${'a, b '.repeat(26_000)}"${',1'.repeat(64_000)}]`;
    const begun = performance.now();
    expect(cutJsonUnits(text, { opening: '"', isBegun: true })).to.have.length(64_001);
    expect(performance.now() - begun).to.be.below(3_000);
  });
});
