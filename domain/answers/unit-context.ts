import { forward, type Span } from '../characters.ts';
import type { Unit } from './cut-units.ts';
import { leansOnBefore } from './leaning.ts';

/** What stands around a unit in its document, in the document's words. */
export interface UnitContext {
  /** The sentence before it, and the one after it; null if there is none. */
  before: string | null;
  after: string | null;
  /** The line before the list or table that it is in. */
  lead: string | null;
  /** The items of the list that it is under, or the keys of JSON that lead to it, the outermost first. */
  parents: string[];
  /** The cells of a row, each with the head of its column; empty if they are more than 1,000. */
  cells: { head: string; text: string }[];
}

/** How much of each line of a context is shown, in characters: the line before a table, or its head, may be as long as a document. */
const maxLine = 1_000;
/** A row with more cells is shown as it stands: each cell adds more to an answer than it has in the document. */
const maxCells = 1_000;

/** The context of the units from `first` to `last`. */
export function contextOf(text: string, units: Unit[], first: number, last = first): UnitContext {
  const unit = units[first];
  const clip = (line: string) => line.slice(0, forward(line, 0, maxLine));
  const show = ({ start, end }: Span) => clip(text.slice(start, Math.min(end, start + 2 * maxLine)));
  const isShownByCells = first === last && unit?.kind === 'row' && unit.cells.length <= maxCells;
  const cells = isShownByCells ? unit.cells.map((cell) => ({ ...cell, head: clip(cell.head) })) : [];
  const say = (index: number) => {
    const beside = units[index];
    return beside ? show(beside) : null;
  };
  const sentence = (index: number) => (units[index]?.kind === 'sentence' && units[index].place === unit?.place ? say(index) : null);
  if (unit?.place) {
    const { keys, row } = unit.place;
    return {
      before: sentence(first - 1),
      after: sentence(last + 1),
      lead: row ? show(row) : null,
      parents: keys,
      cells,
    };
  }
  if (!unit || unit.kind === 'sentence' || unit.kind === 'heading')
    return { before: sentence(first - 1), after: sentence(last + 1), lead: null, parents: [], cells: [] };
  const { tops, parents } = listsOf(units);
  const above: string[] = [];
  for (let at = parents[first]; at !== undefined; at = parents[at]) above.unshift(say(at) ?? '');
  return { before: null, after: null, lead: sentence((tops[first] ?? 0) - 1), parents: above, cells };
}

/** Where the list or table of each item and row begins, and the item that each item is under. */
interface Lists {
  tops: number[];
  parents: (number | undefined)[];
}

const known = new WeakMap<Unit[], Lists>();

/** The lists and tables of units, found in one pass, once: a list has thousands of items, and each may be asked for. */
function listsOf(units: Unit[]): Lists {
  const lists = known.get(units) ?? findLists(units);
  known.set(units, lists);
  return lists;
}

function findLists(units: Unit[]): Lists {
  const tops: number[] = [];
  const parents: (number | undefined)[] = [];
  const begun = { item: 0, row: 0 };
  let open: number[] = [];
  for (const [index, unit] of units.entries()) {
    const { kind, depth, cells } = unit;
    tops.push(kind === 'item' || kind === 'row' ? begun[kind] : index);
    // The head of a table belongs to its rows.
    const isHead = kind === 'heading' && cells.length > 0;
    if (kind !== 'row' && !isHead) begun.row = index + 1;
    if (kind !== 'item' && !isHead) {
      begun.item = index + 1;
      open = [];
    }
    // A parent is less deep.
    if (kind === 'item') open = open.filter((above) => (units[above]?.depth ?? 0) < depth);
    parents.push(kind === 'item' ? open.at(-1) : undefined);
    if (kind === 'item') open.push(index);
  }
  return { tops, parents };
}

/** The index from which a unit is shown: that of the unit before it, if it leans on that one. */
export function firstShown(text: string, units: Unit[], index: number): number {
  const [unit, before] = [units[index], units[index - 1]];
  if (unit?.kind !== 'sentence' || before?.kind !== 'sentence' || unit.place !== before.place) return index;
  return leansOnBefore(text.slice(unit.start, unit.end), text.slice(before.start, before.end)) ? index - 1 : index;
}
