import { z } from 'zod';
import { dateTime, exampleId, withExample } from './fields.ts';

/** Every code with its HTTP status and default message. */
export const errorCodes = {
  BAD_REQUEST: { status: 400, message: 'The request is not valid.' },
  UNAUTHORIZED: { status: 401, message: 'You must be signed in.' },
  FORBIDDEN: { status: 403, message: 'You are not allowed to do this.' },
  LIMIT_REACHED: { status: 403, message: 'This organization has reached a limit of its plan.' },
  ORGANIZATION_SUSPENDED: { status: 403, message: 'This organization is suspended.' },
  NOT_FOUND: { status: 404, message: 'Not found.' },
  CONFLICT: { status: 409, message: 'The request conflicts with the current state.' },
  LEGAL_HOLD: { status: 409, message: 'A legal hold keeps this.' },
  PRECONDITION_FAILED: { status: 412, message: 'The resource is not in the state that this needs.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The file is too large.' },
  TOO_MANY_REQUESTS: { status: 429, message: 'Too many requests: try again later.' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'The service is temporarily unavailable.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errorCodes;

/** One problem of a request: its path as an array of keys, and a message. `params.reason` marks control characters. */
const issueSchema = z
  .object({
    path: withExample(z.array(z.union([z.string(), z.int().min(0)])).describe('The keys that lead to the value.'), ['name']),
    message: z.string().meta({ examples: ['must be a single line without control characters'] }),
    params: z
      .object({ reason: z.string().meta({ examples: ['control_characters'] }) })
      .optional()
      .meta({ id: 'IssueParams', description: 'Tells control characters apart from other problems.' }),
  })
  .meta({ id: 'Issue' });

export type Issue = z.infer<typeof issueSchema>;

/** The limits of a plan that hold for an organization as a whole. */
export const organizationLimits = ['workspaces', 'members', 'aiCredits'] as const;
/** All limits of a plan, of which that of storage holds for each workspace; and what providers may cost a workspace, by its budget. */
const limitKinds = [...organizationLimits, 'storageBytes', 'costMicros'] as const;
export type LimitKind = (typeof limitKinds)[number];
/** Whose credits are used up: those of the plan, or a budget that the organization has set. */
const creditScopes = ['organization', 'workspace', 'key'] as const;

/** Data of the errors that have any, by code. */
export const dataSchemas = {
  BAD_REQUEST: z.object({ issues: z.array(issueSchema) }).meta({ id: 'InvalidInput' }),
  LIMIT_REACHED: z
    .object({
      kind: z.enum(limitKinds),
      limit: z.number().meta({ examples: [3] }),
      plan: z.string().meta({ examples: ['free'] }),
      scope: z
        .enum(creditScopes)
        .optional()
        .describe(
          'Of `aiCredits` and `costMicros` only: whether the credits of the plan are used up (`organization`), or a budget of the workspace or the API key.',
        )
        .meta({ examples: ['organization'] }),
    })
    .meta({ id: 'ReachedLimit' }),
  ORGANIZATION_SUSPENDED: z
    .object({ reason: z.string().meta({ examples: ['The invoice of October is not paid.'] }), since: dateTime })
    .meta({ id: 'Suspension', description: 'Why an operator of the deployment has suspended the organization, and since when.' }),
  CONFLICT: z
    .object({ documentId: z.string().meta({ examples: [exampleId] }) })
    .optional()
    .meta({ id: 'ConflictingDocument', description: 'The document that has the content already, where that is the conflict.' }),
  LEGAL_HOLD: z
    .object({ reason: z.string().meta({ examples: ['The case of the broken dome.'] }), since: dateTime })
    .meta({ id: 'HoldReason', description: 'Why an owner holds this, and since when.' }),
  PAYLOAD_TOO_LARGE: z.object({ maxBytes: z.int().meta({ examples: [26_214_400] }) }).meta({ id: 'SizeLimit' }),
  SERVICE_UNAVAILABLE: z
    .object({ readOnly: z.string().meta({ examples: ['The database moves until 14:00.'] }) })
    .optional()
    .meta({ id: 'ReadOnlyDeployment', description: 'Why an operator has the deployment take no writes, where that is why.' }),
} as const;

/** The `data` of each code that has one. */
export interface ErrorData {
  BAD_REQUEST: { issues: Issue[] };
  LIMIT_REACHED: { kind: LimitKind; limit: number; plan: string; scope?: (typeof creditScopes)[number] | undefined };
  ORGANIZATION_SUSPENDED: { reason: string; since: string };
  CONFLICT: { documentId: string } | undefined;
  LEGAL_HOLD: { reason: string; since: string };
  PAYLOAD_TOO_LARGE: { maxBytes: number };
  SERVICE_UNAVAILABLE: { readOnly: string } | undefined;
}

/** The data of an error, which some errors of a code may lack. */
export type DataOf<D> = undefined extends D ? { data?: D } : { data: D };

/** The envelope of every declared error, on both transports. */
export interface ErrorEnvelope {
  defined: boolean;
  code: string;
  status: number;
  message: string;
  data?: unknown;
}

function envelope(code: ErrorCode) {
  const { status, message } = errorCodes[code];
  const base = {
    defined: z.literal(true).describe('True for the codes that the operation declares.'),
    code: z.literal(code),
    status: z.literal(status),
    message: z.string().meta({ examples: [message] }),
  };
  const data = (dataSchemas as Partial<Record<ErrorCode, z.ZodType>>)[code];
  return z.object(data ? { ...base, data } : base).meta({ id: `${pascal(code)}Error`, description: message });
}

/** The name of a schema for a code: `NotFound` for `NOT_FOUND`. */
export function pascal(code: string): string {
  return code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The error envelopes, by code: named schemas that every operation shares. */
export const errorSchemas = Object.fromEntries((Object.keys(errorCodes) as ErrorCode[]).map((code) => [code, envelope(code)])) as Record<
  ErrorCode,
  ReturnType<typeof envelope>
>;

type StatusOf<C extends ErrorCode> = (typeof errorCodes)[C]['status'];
type CodeWith<S extends number, C extends ErrorCode> = C extends ErrorCode ? (StatusOf<C> extends S ? C : never) : never;

/** The envelope of one code, as it is declared. */
type DeclaredError<C extends ErrorCode> = C extends ErrorCode
  ? { defined: true; code: C; status: StatusOf<C>; message: string } & (C extends keyof ErrorData ? DataOf<ErrorData[C]> : unknown)
  : never;

/** The response schemas of codes, by HTTP status. */
export type ErrorResponses<C extends ErrorCode> = { [S in StatusOf<C>]: z.ZodType<DeclaredError<CodeWith<S, C>>> };

/** The response schemas by HTTP status: the union of the declared codes with that status. */
export function errorResponses(codes: readonly ErrorCode[]): Record<number, z.ZodType> {
  const statuses = new Set(codes.map((code) => errorCodes[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const [first, ...rest] = codes.filter((code) => errorCodes[code].status === status).map((code) => errorSchemas[code]);
      if (!first) throw new Error(`No code has the status ${status}`);
      return [status, rest.length === 0 ? first : z.union([first, ...rest])];
    }),
  );
}

function bareError<E extends string>(error: E, name: string, description: string) {
  return z
    .object({
      error: z.literal(error),
      requestId: withExample(z.string().describe('The `X-Request-Id` of the response.'), '0b8f6a4e-4a43-4a0e-9f5b-1d7b1f0c2a3d'),
    })
    .meta({ id: name, description });
}

/** The largest JSON body of a request, in bytes. */
export const maxBodyBytes = 1024 * 1024;

/** The two errors without an envelope, which every operation may return. */
export const bodyTooLargeSchema = bareError('payload_too_large', 'BodyTooLargeError', 'The body of the request is larger than 1 MiB.');
export const internalErrorSchema = bareError(
  'internal_error',
  'InternalError',
  'The service failed; its log knows the cause by the request id.',
);
