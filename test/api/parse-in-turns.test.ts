import { expect } from 'chai';
import { z } from 'zod';
import { parseInTurns } from '../../api/parse-in-turns.ts';

describe('A response is validated', () => {
  let turns = 0;
  let counting: NodeJS.Immediate;
  before(() => {
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    count();
  });
  after(() => clearImmediate(counting));

  const turnsOfRows: number[] = [];
  beforeEach(() => {
    turnsOfRows.length = 0;
  });
  const slowRow = z.object({ id: z.number() }).refine(() => {
    turnsOfRows.push(turns);
    for (const endsAt = performance.now() + 3; performance.now() < endsAt; );
    return true;
  });
  const rows = Array.from({ length: 10 }, (_, id) => ({ id, secret: 'undeclared' }));
  const parsedRows = rows.map(({ id }) => ({ id }));

  it('row by row with turns for others between, as a list or with one', async () => {
    const page = { items: rows, nextCursor: null, secret: 'undeclared' };
    const schema = z.object({ items: z.array(slowRow), nextCursor: z.string().nullable() });
    expect(await parseInTurns(schema, page)).to.deep.equal({ items: parsedRows, nextCursor: null });
    expect(new Set(turnsOfRows).size).to.equal(10);
    turnsOfRows.length = 0;
    expect(await parseInTurns(z.array(slowRow), rows)).to.deep.equal(parsedRows);
    expect(new Set(turnsOfRows).size).to.equal(10);
  });

  it('and refused if a row is not as declared, or the list is none', async () => {
    const wrong = [...rows, { id: 'eleven' }];
    for (const [schema, output] of [
      [z.array(slowRow), wrong],
      [z.object({ items: z.array(slowRow) }), { items: wrong }],
      [z.object({ items: z.array(slowRow) }), { items: null }],
      [z.array(slowRow), null],
    ] as const) {
      const error = await parseInTurns(schema, output).catch((thrown) => thrown);
      expect(error).to.be.instanceOf(z.ZodError);
    }
  });
});
