import { z } from 'zod';

/** Every code of spec §7 with its HTTP status and default message. */
export const errorCodes = {
  BAD_REQUEST: { status: 400, message: 'The request is not valid.' },
  UNAUTHORIZED: { status: 401, message: 'You must be signed in.' },
  FORBIDDEN: { status: 403, message: 'You are not allowed to do this.' },
  LIMIT_REACHED: { status: 403, message: 'This organization has reached a limit of its plan.' },
  NOT_FOUND: { status: 404, message: 'Not found.' },
  CONFLICT: { status: 409, message: 'The request conflicts with the current state.' },
  PRECONDITION_FAILED: { status: 412, message: 'The resource is not in the state that this needs.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The file is too large.' },
  TOO_MANY_REQUESTS: { status: 429, message: 'Too many requests: try again later.' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'The service is temporarily unavailable.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errorCodes;
export type ErrorStatus = (typeof errorCodes)[ErrorCode]['status'];

/** One problem of a request: where, as an array of keys, and what. `params.reason` tells control characters apart. */
export const issueSchema = z
  .object({
    path: z.array(z.union([z.string(), z.number()])),
    message: z.string(),
    params: z.object({ reason: z.string() }).optional(),
  })
  .meta({ id: 'Issue' });

export type Issue = z.infer<typeof issueSchema>;

export const limitKinds = ['workspaces', 'members', 'aiCredits', 'storageBytes'] as const;
export type LimitKind = (typeof limitKinds)[number];

const dataSchemas = {
  BAD_REQUEST: z.object({ issues: z.array(issueSchema) }).optional(),
  LIMIT_REACHED: z.object({ kind: z.enum(limitKinds), limit: z.number(), plan: z.string() }),
  PAYLOAD_TOO_LARGE: z.object({ maxBytes: z.int() }),
} as const;

/** The `data` of each code that has one. */
export interface ErrorData {
  BAD_REQUEST: { issues: Issue[] } | undefined;
  LIMIT_REACHED: { kind: LimitKind; limit: number; plan: string };
  PAYLOAD_TOO_LARGE: { maxBytes: number };
}

/** The envelope of every declared error, on both transports (spec §7). */
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

function pascal(code: string): string {
  return code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The error envelopes, by code: named schemas that every operation shares. */
export const errorSchemas = Object.fromEntries((Object.keys(errorCodes) as ErrorCode[]).map((code) => [code, envelope(code)])) as Record<
  ErrorCode,
  ReturnType<typeof envelope>
>;

/** The response schema of one HTTP status: every declared code that answers with it. */
export function errorResponses(codes: readonly ErrorCode[]): Record<number, z.ZodType> {
  const byStatus = Map.groupBy(codes, (code) => errorCodes[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const [first, ...rest] = group.map((code) => errorSchemas[code]);
      if (!first) throw new Error(`No code answers with ${status}`);
      return [status, rest.length === 0 ? first : z.union([first, ...rest])];
    }),
  );
}
