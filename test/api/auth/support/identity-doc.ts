import { readFileSync } from 'node:fs';

/** What docs/identity.md says of one endpoint. */
interface DescribedEndpoint {
  /** Such as `POST /sign-up/email`. */
  name: string;
  /** The heading that it stands below. */
  section: string;
  /** The fields of its request; undefined where the table has no column for them. */
  fields: Map<string, { optional: boolean }> | undefined;
  /** Such as `403 BANNED_USER`. */
  errors: Set<string>;
}

interface IdentityDoc {
  endpoints: DescribedEndpoint[];
  /** The errors in the row of an endpoint, and those of every endpoint. */
  errorsOf(name: string): string[];
}

const common = 'Errors of every endpoint';

/** Reads the tables of docs/identity.md. */
export function readIdentityDoc(): IdentityDoc {
  const sections = readFileSync('docs/identity.md', 'utf8').split(/^## /m).slice(1);
  const rows = sections.flatMap((section) => {
    const [heading = '', ...lines] = section.split('\n');
    const [header = [], , ...body] = lines.filter((line) => line.startsWith('|')).map(cellsOf);
    return body.map((cells) => ({ heading, cell: (title: string) => cells[header.indexOf(title)] }));
  });
  const ofEvery = rows.filter(({ heading }) => heading === common).flatMap(({ cell }) => errorsIn(cell('Status and code') ?? ''));
  const endpoints = rows
    .filter(({ heading }) => heading !== common)
    .map(({ heading, cell }) => {
      const request = cell('Request');
      const name = /^`((?:GET|POST) \/[^`]+)`$/.exec(cell('Endpoint') ?? '')?.[1];
      if (name === undefined) throw new Error(`docs/identity.md: a row below "${heading}" names no endpoint`);
      return {
        name,
        section: heading,
        fields: request === undefined ? undefined : fieldsIn(request),
        errors: new Set(errorsIn(cell('Errors') ?? '')),
      };
    });
  return {
    endpoints,
    errorsOf: (wanted) => [...ofEvery, ...(endpoints.find(({ name }) => name === wanted)?.errors ?? [])],
  };
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim());
}

/** Each code with the status that stands before it: `400` of "400 `A`, `B`". */
function errorsIn(cell: string): string[] {
  let status = '';
  return [...cell.matchAll(/\b(\d{3})\b|`([A-Z][A-Z0-9_]+)`/g)].flatMap(([, number, code]) => {
    if (number !== undefined) status = number;
    return code === undefined ? [] : [`${status} ${code}`];
  });
}

/** The code spans outside parentheses: `name`, `image?`, `data: { … }`. */
function fieldsIn(cell: string): Map<string, { optional: boolean }> {
  const spans = cell.replace(/\([^)]*\)/g, '').matchAll(/`(\w+)(\??)[^`]*`/g);
  return new Map([...spans].map(([, name = '', mark]) => [name, { optional: mark === '?' }]));
}
