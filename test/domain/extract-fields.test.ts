import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import type { FieldSchema, ObjectSchema } from '../../contract/field-schema.ts';
import { cutPassages } from '../../domain/fields/document-passages.ts';
import { schemaOf } from '../../domain/fields/shipped-schemas.ts';
import { toFields } from '../../domain/fields/to-fields.ts';
import { processorSeconds } from '../support/hostile-texts.ts';
import { pick, type Random, randomOf } from '../support/random.ts';

interface Said {
  path: string;
  value: string | number | boolean;
  passage: string;
  quote: string;
}

const invoice = schemaOf('invoice');

function read(text: string, { pages = null as number[] | null, ocrConfidence = null as (number | null)[] | null } = {}) {
  return cutPassages({ contentType: 'text/plain', text, outline: { characters: text.length, pages, headings: [] }, ocrConfidence });
}

function extract(text: string, said: Said[], schema: ObjectSchema = invoice) {
  return toFields(schema, [said], read(text));
}

const entry = (path: string, value: Said['value'], quote: string, passage = '1'): Said => ({ path, value, passage, quote });

/** The schema as its result keeps it: every field is there, and every value may be null. */
function asKept(node: FieldSchema): object {
  if (node.type === 'array') return { type: 'array', items: asKept(node.items) };
  if (node.type !== 'object') return { anyOf: [node, { type: 'null' }] };
  const properties = Object.fromEntries(Object.entries(node.properties).map(([name, child]) => [name, asKept(child)]));
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const ajv = new Ajv2020({ strict: true });
addFormats.default(ajv);
const isInvoice = ajv.compile(asKept(invoice));

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const firms = ['Harbour Supplies Ltd', 'Brannock Optics', 'Kestrel Ropeworks', 'Olavsen Marine AS', 'Tarn & Sons', 'Weir Lamp Company'];
const goods = ['Mirror cleaner', 'Dome grease', 'Signal lamp', 'Hemp rope', 'Brass shackle', 'Lens cloth'];

/** An invoice with what it says, line by line. */
function makeInvoice(random: Random) {
  const number = (from: number, to: number) => from + Math.floor(random() * (to - from));
  const day = () => ({ year: number(2019, 2027), month: number(1, 13), day: number(1, 29) });
  const iso = (date: ReturnType<typeof day>) => `${date.year}-${`0${date.month}`.slice(-2)}-${`0${date.day}`.slice(-2)}`;
  const long = (date: ReturnType<typeof day>) => `${date.day} ${months[date.month - 1]} ${date.year}`;
  const written = (value: number) => value.toLocaleString('en-US', { minimumFractionDigits: 2 });
  const [issued, due] = [day(), day()];
  const [seller, buyer] = [pick(firms, random), 'Korvid Observatory'];
  const [net, tax, total] = [number(10_000, 500_000) / 100, number(100, 90_000) / 100, number(500_001, 900_000) / 100];
  const id = `${pick(['HS', 'INV', 'R'], random)}-${number(1_000, 99_999)}`;
  const lines = Array.from({ length: 3 }, () => ({ description: pick(goods, random), amount: number(100, 90_000) / 100 }));
  const truths = [
    entry('/number', id, `Invoice No. ${id}`),
    entry('/date', iso(issued), `Date of issue: ${long(issued)}`),
    entry('/due', iso(due), `Payable by ${long(due)}`),
    entry('/seller', seller, `Seller: ${seller}`),
    entry('/buyer', buyer, `Bill to ${buyer}`),
    entry('/net', net, `Net amount ${written(net)}`),
    entry('/tax', tax, `Value added tax ${written(tax)}`),
    entry('/total', total, `Total due: ${written(total)} EUR`),
    entry('/currency', 'EUR', `Total due: ${written(total)} EUR`),
    ...lines.flatMap(({ description, amount }, index) => [
      entry(`/lines/${index}/description`, description, `Position ${index + 1} ${description} ${written(amount)}`),
      entry(`/lines/${index}/amount`, amount, `Position ${index + 1} ${description} ${written(amount)}`),
    ]),
  ];
  return { text: `${[...new Set(truths.map(({ quote }) => quote))].join('\n')}\n`, truths };
}

type Lie = (truth: Said, random: Random, others: Said[]) => Said;

const other = (value: Said['value'], random: Random): Said['value'] => {
  if (typeof value === 'number') return Math.round((value + 1 + random() * 100) * 100) / 100;
  if (/^\d{4}-/.test(String(value))) return String(value).replace(/^\d{4}/, (year) => String(Number(year) + 20));
  return pick(['Evil Genius GmbH', 'XX-77777', 'GBP', 'Gold bars', 'evil genius'], random);
};

/** Ways to lie about a value. None of them may be kept. */
const lies: Record<string, Lie> = {
  'another value with a true quote': (truth, random) => ({ ...truth, value: other(truth.value, random) }),
  'another value with a quote made for it': (truth, random) => {
    const value = other(truth.value, random);
    return { ...truth, value, quote: `The value is surely ${value}` };
  },
  'a true value with a quote that was made up': (truth) => ({ ...truth, quote: `As agreed, we confirm ${truth.value} here` }),
  'a quote of another line': (truth, random, others) => {
    const elsewhere = others.filter(({ quote }) => quote !== truth.quote && !quote.includes(String(truth.value)));
    return { ...truth, value: other(truth.value, random), quote: pick(elsewhere, random).quote };
  },
  'a quote that is joined of two': (truth, random, others) => ({ ...truth, quote: `${truth.quote} … ${pick(others, random).quote} … end` }),
  'a quote that is shifted by a letter': (truth) => ({ ...truth, quote: truth.quote.slice(1) }),
  'a quote of another passage': (truth) => ({ ...truth, passage: '2' }),
  'a quote of a passage that nobody has': (truth) => ({ ...truth, passage: '99' }),
  'another type': (truth) => ({
    ...truth,
    value: typeof truth.value === 'number' ? `${truth.value}` : Number(/\d+/.exec(truth.quote)?.[0] ?? 42),
  }),
  'a field that the schema does not have': (truth) => ({ ...truth, path: `${truth.path}x` }),
  'a field of a prototype': (truth) => ({ ...truth, path: `/__proto__${truth.path}` }),
  'an item that is no item': (truth) => ({ ...truth, path: `/lines/-${truth.path}` }),
  'a value that is the whole object': (truth) => ({ ...truth, path: '/lines' }),
  'a part of a word or number': (truth) => ({
    ...truth,
    value: typeof truth.value === 'number' ? Number(String(truth.value).slice(1)) + 0.001 : String(truth.value).slice(0, -1),
  }),
  nothing: (truth) => ({ ...truth, quote: '' }),
  'stop words': (truth) => ({ ...truth, quote: 'to by of' }),
};

describe('The fields of a document', () => {
  it('keep none of 1,000 lies of a model, and at least 980 of 1,000 true values', () => {
    const random = randomOf(44);
    const kept: string[] = [];
    let [told, true_, proven] = [0, 0, 0];
    while (told < 1_000) {
      const { text, truths } = makeInvoice(random);
      const { data, withheld } = extract(text, truths);
      expect(isInvoice(data), JSON.stringify(isInvoice.errors)).to.equal(true);
      true_ += truths.length;
      proven += truths.length - withheld;
      for (const [name, lie] of Object.entries(lies)) {
        const said = lie(pick(truths, random), random, truths);
        const result = extract(text, [said]);
        told += 1;
        if (result.withheld !== 1) kept.push(`${name}: ${JSON.stringify(said)}`);
        expect(isInvoice(result.data)).to.equal(true);
      }
    }
    expect(kept).to.deep.equal([]);
    expect(true_).to.be.above(900);
    expect(proven / true_).to.be.at.least(0.98);
  });

  it('keep each with its unit, and less confidence where the page was recognized', () => {
    const text = 'Total due: 12.50 EUR\nPaid: no';
    const passages = read(text, { pages: [0], ocrConfidence: [80] });
    const { fields } = toFields(invoice, [[entry('/total', 12.5, '12.50')]], passages);
    const total = fields.find(({ path }) => path === '/total');
    expect(total).to.include({ value: 12.5, quote: 'Total due: 12.50 EUR', page: 1, recognized: true, confidence: 0.72 });
  });

  it('keep `no`, and an IBAN without its blanks', () => {
    const schema: ObjectSchema = { type: 'object', properties: { paid: { type: 'boolean' }, iban: { type: 'string' } } };
    const said = [entry('/paid', false, 'Paid: no'), entry('/iban', 'DE89370400440532013000', 'IBAN: DE89 3704 0044 0532 0130 00')];
    const { data } = extract('Paid: no\nIBAN: DE89 3704 0044 0532 0130 00', said, schema);
    expect(data).to.deep.equal({ paid: false, iban: 'DE89 3704 0044 0532 0130 00' });
  });

  it('take about as long as the units of the document, however many there are', () => {
    const names = Array.from({ length: 400 }, (_, index) => `total${index}`);
    const schema: ObjectSchema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'number' }])) };
    const text = Array.from({ length: 3_000 }, (_, index) => `The lamp of row ${index} was lit by its keeper.`).join('\n');
    const [said, document] = [names.map((name) => entry(`/${name}`, 7, 'row 7 was lit')), read(text)];
    const begun = performance.now();
    expect(toFields(schema, [said], document).withheld).to.equal(0);
    expect(performance.now() - begun).to.be.below(10_000);
  });

  it('take about as long as the rows of a table, also those of a list', async () => {
    const schema: ObjectSchema = {
      type: 'object',
      properties: { amounts: { type: 'array', items: { type: 'number', description: 'Paid.' } } },
    };
    const text = Array.from({ length: 100_000 }, (_, index) => index % 10).join('\n');
    const document = cutPassages({
      contentType: 'text/csv',
      text,
      outline: { characters: text.length, pages: null, headings: [] },
      ocrConfidence: null,
    });
    const said = Array.from({ length: 500 }, (_, index) => entry(`/amounts/${index}`, 7, '7'));
    expect(await processorSeconds(() => toFields(schema, [said], document))).to.be.below(5);
  });

  it('are in no unit of pages, which would support anything', () => {
    const long = Array.from({ length: 1_000 }, (_, index) => `n ${1_000 + index},`).join(' ');
    const schema: ObjectSchema = { type: 'object', properties: { n: { type: 'array', items: { type: 'number' } } } };
    const said = [entry('/n/0', 1_007, 'n 1007,'), entry('/n/1', 7, 'The net is 7.')];
    const { fields, withheld } = extract(`The net is 7.\n\n${long}`, said, schema);
    expect([fields.map(({ quote }) => quote), withheld]).to.deep.equal([['The net is 7.'], 1]);
  });

  it('are doubtful where another value of their kind stands nearer to the name', () => {
    const schema: ObjectSchema = {
      type: 'object',
      properties: { total: { type: 'number' }, dueDate: { type: 'string', format: 'date' }, supplier: { type: 'string' } },
    };
    const text = 'Supplier: Weir Lamps\nCustomer: Korvid\nDate: 3 March 2026\nDue date: 3 April 2026\nSubtotal: 90.00\nTotal: 107.10';
    const confidences = (...said: Said[]) => extract(text, said, schema).fields.map(({ confidence }) => confidence);
    const [total, due, supplier] = [
      entry('/total', 107.1, 'Total: 107.10'),
      entry('/dueDate', '2026-04-03', 'Due date: 3 April 2026'),
      entry('/supplier', 'Weir Lamps', 'Supplier: Weir Lamps'),
    ];
    expect(confidences(total, due, supplier)).to.deep.equal([0.9, 0.9, 1]);
    const wrong = [
      entry('/total', 90, 'Subtotal: 90.00'),
      entry('/dueDate', '2026-03-03', 'Date: 3 March 2026'),
      entry('/supplier', 'Korvid', 'Customer: Korvid'),
    ];
    expect(confidences(...wrong)).to.deep.equal([0.45, 0.45, 0.5]);
    expect(extract('Subtotal 90.00 Total 107.10', [entry('/total', 90, 'Subtotal 90.00')], schema).fields[0]?.confidence).to.equal(0.45);
  });
});
