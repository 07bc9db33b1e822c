import { showStored } from '../sheet/cell-formats.ts';
import type { Archive } from './archive.ts';
import { scanXml } from './scan-xml.ts';

interface Series {
  name: string;
  /** Values by their places. */
  labels: Map<number, string>;
  values: Map<number, string>;
}

/** Reads a chart: its titles and labels, and a table of what it shows, with a row for each category and a column for each series. */
export async function readChart(archive: Archive, part: string): Promise<{ paragraphs: string[]; rows: string[][] }> {
  const paragraphs: string[] = [];
  const series: Series[] = [];
  let [line, inText, place, format] = ['', false, 0, ''];
  let current: Series | undefined;
  let target: 'name' | 'labels' | 'values' | undefined;
  const endLine = () => {
    if (line.trim() !== '') paragraphs.push(line.trim());
    line = '';
  };
  const setValue = (value: string) => {
    if (!current || target === undefined) return;
    if (target === 'name') current.name += value;
    else if (target === 'values') current.values.set(place, showStored(value, format));
    // A category may have several levels.
    else current.labels.set(place, [value, current.labels.get(place)].filter(Boolean).join(' '));
  };
  await scanXml(archive.readText(part), {
    open(name, { idx }) {
      if (name === 'c:ser') {
        current = { name: '', labels: new Map(), values: new Map() };
        series.push(current);
      } else if (name === 'c:tx' && current) target ??= 'name';
      else if (name === 'c:cat' || name === 'c:xVal') target = 'labels';
      else if (name === 'c:val' || name === 'c:yVal') target = 'values';
      else if (name === 'c:pt') place = Number(idx);
      else if (name === 'c:numCache') format = '';
      inText = name === 'a:t' || name === 'c:v' || name === 'c:formatCode' || name === 'cx:pt';
      if (name === 'c:v' || name === 'c:formatCode') line = '';
    },
    close(name) {
      if (name === 'c:v') setValue(line);
      else if (name === 'c:formatCode') format = line;
      if (name === 'c:v' || name === 'c:formatCode') line = '';
      else if (name === 'a:p' || name === 'cx:pt') endLine();
      else if (name === 'c:ser') current = undefined;
      else if (/^c:(?:tx|cat|xVal|val|yVal)$/.test(name)) target = undefined;
      inText = false;
    },
    text(text) {
      if (inText) line += text;
    },
  });
  return { paragraphs, rows: toRows(series) };
}

function toRows(series: Series[]): string[][] {
  if (series.length === 0) return [];
  const places = [...new Set(series.flatMap(({ labels, values }) => [...labels.keys(), ...values.keys()]))].sort((a, b) => a - b);
  const labelOf = (place: number) => series.find(({ labels }) => labels.has(place))?.labels.get(place) ?? '';
  const head = ['', ...series.map(({ name }) => name)];
  return [head, ...places.map((place) => [labelOf(place), ...series.map(({ values }) => values.get(place) ?? '')])];
}
