import type { Service } from './service.ts';

/** A measured figure with its baseline from the same run. `ok` is null if it has no target and is shown for context only. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  baseline: number | null;
  ratio: number | null;
  target: string;
  ok: boolean | null;
}

export interface Target {
  /** The ratio to the baseline must be at least, or at most, this. */
  ratio?: { atLeast: number } | { atMost: number };
  /** The value itself must be at most this. */
  atMost?: number;
  /** The value itself must be at least this. */
  atLeast?: number;
}

/** Judges a measurement by its target. Ratios are the measured figure over its baseline; there is none to a baseline of 0. */
export function toFigure(
  name: string,
  { value, baseline, ratio, unit }: { value: number; baseline?: number; ratio?: number; unit: string },
  target: Target = {},
): Figure {
  const proportion = ratio ?? (baseline ? value / baseline : null);
  const shown = { name, value: round(value), unit, baseline: baseline === undefined ? null : round(baseline) };
  const { ok, text } = judge(value, proportion, target, unit);
  return { ...shown, ratio: proportion === null ? null : round(proportion), target: text, ok };
}

/** A target is reached if all that it says is; a ratio to no baseline says nothing. */
function judge(value: number, ratio: number | null, target: Target, unit: string): { ok: boolean | null; text: string } {
  const conditions = [
    ...conditionsOn(value, target, unit),
    ...(target.ratio && ratio !== null ? conditionsOn(ratio, target.ratio, '×') : []),
  ];
  if (conditions.length === 0) return { ok: null, text: '' };
  return { ok: conditions.every(({ ok }) => ok), text: conditions.map(({ text }) => text).join(', ') };
}

function conditionsOn(value: number, { atMost, atLeast }: { atMost?: number; atLeast?: number }, unit: string) {
  return [
    ...(atMost === undefined ? [] : [{ ok: value <= atMost, text: `≤ ${atMost} ${unit}`.trim() }]),
    ...(atLeast === undefined ? [] : [{ ok: value >= atLeast, text: `≥ ${atLeast} ${unit}`.trim() }]),
  ];
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}

/** Formats figures as a table. */
export function formatTable(figures: Figure[]): string {
  const rows = figures.map(({ name, value, unit, baseline, ratio, target, ok }) => [
    name,
    `${value} ${unit}`,
    baseline === null ? '' : String(baseline),
    ratio === null ? '' : ratio.toFixed(2),
    target,
    ok === null ? '' : ok ? 'ok' : 'MISSED',
  ]);
  const table = [['Figure', 'Value', 'Baseline', 'Ratio', 'To reach', ''], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** How thorough a run is. */
export interface Effort {
  /** A run of three minutes: fewer rounds and smaller sizes, for a first look. */
  quick: boolean;
  /** How many rounds to measure, of those that a full run has. */
  rounds(full: number): number;
}

/** Measures one or more figures on a running service. */
export type Measure = (service: Service, effort: Effort) => Promise<Figure[]>;
