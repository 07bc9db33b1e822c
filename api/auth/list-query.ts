import { z } from 'zod';
import { isFromYearOne, optionalQueryInteger } from '../../contract/fields.ts';

/** The type of a column by which lists can be filtered. */
type Kind = 'text' | 'boolean' | 'time';

const wholeNumber = optionalQueryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER });
const values = {
  text: z.string(),
  boolean: z.enum(['true', 'false']),
  time: z.union([z.iso.datetime({ offset: true }), z.iso.date()], { error: 'must be a time of ISO 8601' }).refine(isFromYearOne),
};
const operators: Record<Kind, string[]> = {
  text: ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'not_in', 'contains', 'starts_with', 'ends_with'],
  boolean: ['eq', 'ne'],
  time: ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'not_in'],
};

/** The query schema of a list of better-auth, by the columns of its rows. better-auth would pass on values that Postgres refuses. */
export function listQuery(columns: Record<string, Kind>) {
  const column = z.enum(Object.keys(columns));
  return z
    .object({
      limit: wholeNumber,
      offset: wholeNumber,
      sortBy: column.optional(),
      filterField: column.optional(),
      filterOperator: z.string().optional(),
      filterValue: z.union([z.string(), z.array(z.string())]).optional(),
    })
    .superRefine(({ filterField, filterOperator = 'eq', filterValue }, context) => {
      const kind = columns[filterField ?? ''] ?? 'text';
      if (filterField === undefined && filterValue === undefined) return;
      const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
      if (!operators[kind].includes(filterOperator)) return refuse('filterOperator', `must be one of ${operators[kind].join(', ')}`);
      const several = filterOperator === 'in' || filterOperator === 'not_in';
      if (Array.isArray(filterValue) !== several) return refuse('filterValue', `must be given ${several ? 'twice or more' : 'once'}`);
      const wrong = z.array(values[kind]).safeParse([filterValue].flat()).error?.issues[0];
      if (wrong) refuse('filterValue', wrong.message);
    });
}
