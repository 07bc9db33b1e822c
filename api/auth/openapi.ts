import { openAPI } from 'better-auth/plugins';
import { version } from '../../contract/index.ts';
import { securitySchemes } from '../../contract/openapi-fixed.ts';
import type { Auth } from './auth.ts';

interface Response {
  description?: string;
  content?: Record<string, { schema: object }>;
}

interface Operation {
  tags: string[];
  description?: string;
  responses: Record<string, Response>;
  [key: string]: unknown;
}

/** The parts of the generator's document that are used. */
interface Generated {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

const errorSchema = {
  type: 'object',
  description: 'The envelope of an error. Codes are those of the page about identity; `defined` is true for those of the API itself.',
  properties: {
    defined: { type: 'boolean' },
    code: { type: 'string', examples: ['INVALID_EMAIL_OR_PASSWORD'] },
    status: { type: 'integer' },
    message: { type: 'string' },
    data: {},
  },
  required: ['defined', 'code', 'status', 'message'],
};

const about = {
  title: 'Sheaf: identity',
  version,
  description:
    'What is served below `/api/auth` by better-auth: sign-in, sessions, users, organizations, members, invitations, teams and subscriptions. The operations themselves are in the document of the API, `/api/v1/openapi.json`.',
};

/** The OpenAPI document of better-auth's endpoints here, by its own generator, with the errors and credentials of this service. */
export async function buildAuthOpenApi(auth: Auth, { cookieName }: { cookieName: string }): Promise<object> {
  const context = await auth.$context;
  const { paths, components } = (await openAPI().endpoints.generateOpenAPISchema({ context } as never)) as unknown as Generated;
  return {
    openapi: '3.1.0',
    info: about,
    servers: [{ url: '/api/auth', description: 'The deployment that serves this document.' }],
    security: [{ bearer: [] }, { cookie: [] }, {}],
    paths: mapValues(paths, (item) => mapValues(item, describe)),
    components: { securitySchemes: securitySchemes(cookieName), schemas: { ...components.schemas, Error: errorSchema } },
  };
}

function describe({ security: _ofBetterAuth, responses, ...operation }: Operation): Operation {
  return { ...operation, responses: mapValues(responses, (response, status) => (Number(status) < 400 ? response : asError(response))) };
}

function asError({ description }: Response): Response {
  return { description: description ?? '', content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };
}

function mapValues<T, U>(object: Record<string, T>, map: (value: T, key: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}
