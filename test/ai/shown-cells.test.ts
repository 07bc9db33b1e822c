import { expect } from 'chai';
import { extraKinds as types } from '../../contract/content-types.ts';
import { makeXlsx } from './support/make-office.ts';
import { textOf } from './support/read.ts';

/** The cells of a workbook with these formats, of which a number is one that Excel has built in, and these values. */
async function cellsOf(cells: [format: string | number, value: number | string][], properties = ''): Promise<string[]> {
  const custom = cells.flatMap(([format], index) =>
    typeof format === 'string' ? [`<numFmt numFmtId="${164 + index}" formatCode="${format.replaceAll('"', '&quot;')}"/>`] : [],
  );
  const styles = cells.map(([format], index) => `<xf numFmtId="${typeof format === 'string' ? 164 + index : format}"/>`);
  const row = cells.map(([, value], style) =>
    typeof value === 'number' ? `<c s="${style}"><v>${value}</v></c>` : `<c s="${style}" t="str"><v>${value}</v></c>`,
  );
  const formats = `<numFmts>${custom.join('')}</numFmts><cellXfs>${styles.join('')}</cellXfs>`;
  const bytes = makeXlsx(`<row>${row.join('')}<c t="str"><v>end</v></c></row>`, [], properties, formats);
  return (await textOf(bytes, types.xlsx)).replace('Prices\n\n', '').slice(2, -2).split(' | ');
}

describe('The cells of Excel', () => {
  it('are read as they are shown: times, durations, leading zeros, shares, prices', async () => {
    expect(
      await cellsOf([
        [20, 0.6041666666666666],
        ['00000', 42],
        [9, 0.19],
        ['#,##0.00 "EUR"', 1234.5],
        ['[h]:mm', 1.09375],
        ['00-000-0000000', 4940123456],
        ['dd/mm/yyyy hh:mm', 46082.60416666666],
      ]),
    ).to.deep.equal(['14:30', '00042', '19%', '1,234.50 EUR', '26:15', '00-494-0123456', '2026-03-01 14:30:00', 'end']);
  });

  it('are read with their signs, in the notation of one language', async () => {
    expect(
      await cellsOf([
        ['_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-', 1234.5],
        ['[$€-407]\\ #,##0.00', -1234.5],
        ['#,##0_);[Red](#,##0)', -5],
        [44, 12.5],
        [10, 0.0725],
        [12, 1.5],
        [11, 12345],
        ['0.0,,"M"', 12_300_000],
        ['[<1000]0" g";0.0,"kg"', 12_345],
        ['[$-407]mmmm', 46082],
        ['h:mm AM/PM', 0.75],
        [45, 0.0123],
      ]),
    ).to.deep.equal([
      ...['1,234.50 €', '-€ 1,234.50', '(5)', '12.50', '7.25%', '1 1/2', '1.23E+04', '12.3M', '12.3kg', 'März', '6:00 PM', '17:43'],
      'end',
    ]);
  });

  it('that show nothing are left out, and text has the words of its format', async () => {
    expect(
      await cellsOf([
        [';;;', 5],
        ['"No. "@', 'A7'],
        [49, 'A7'],
        ['0" days"', 3],
        ['@', 7],
      ]),
    ).to.deep.equal(['', 'No. A7', 'A7', '3 days', '7', 'end']);
  });

  it('are times of any day below one day, whatever the year from which days count', async () => {
    for (const properties of ['', '<workbookPr date1904="1"/>'])
      expect(
        await cellsOf(
          [
            [20, 0.25],
            ['yyyy-mm-dd hh:mm', 0.25],
            [46, 1.25],
          ],
          properties,
        ),
      ).to.deep.equal(['6:00', '06:00:00', '30:00:00', 'end']);
  });

  it('stay as they are stored if their format is damaged', async () => {
    expect(
      await cellsOf([
        ['broken"', 5.25],
        ['0.00', 'text'],
        ['yyyy', 1e9],
      ]),
    ).to.deep.equal(['5.25', 'text', '1000000000', 'end']);
  });
});
