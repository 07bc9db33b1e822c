/** The document's title, license and introduction. */
export const about = {
  title: 'Sheaf',
  summary: 'A multi-tenant back end for documents, jobs and billing.',
  license: { name: 'MIT', identifier: 'MIT' },
  description: `Organizations hold workspaces, workspaces hold documents, and jobs read, summarize and index them.

**Signing in.** Sign up with \`POST /api/auth/sign-up/email\` (\`name\`, \`email\`, \`password\`), and sign in with \`POST /api/auth/sign-in/email\` (\`email\`, \`password\`). Send \`Authorization: Bearer <token>\` with the value of the \`set-auth-token\` header in the response to signing in, or the session cookie of a browser. Create an organization with \`POST /api/auth/organization/create\` (\`name\`, \`slug\`). \`GET /api/auth/organization/list\` returns the organizations that you are a member of, with the ids that operations ask for.

**API keys.** A program sends the secret of an API key as \`Authorization: Bearer <secret>\` instead. \`apiKeys.create\` makes one. Where an operation needs a session of a member with a permission, a key of the organization with that permission does as well.

**Requests.** Bodies are JSON in UTF-8 of at most 1 MiB, and say so: \`Content-Type: application/json\`, or another type of the form \`application/*+json\`. A body of another type is BAD_REQUEST. Fields and query parameters that an operation does not know are ignored, except in the \`filter\` of a search. A parameter is checked before the resource is looked for; whether you are signed in is checked before everything else.

**Responses.** Success is always 200. Timestamps are ISO 8601 in UTC with milliseconds. Every response carries \`X-Request-Id\`: the one you sent if it is made of 1 to 128 letters, digits, \`.\`, \`_\` and \`-\`, otherwise a new one. Responses may gain fields: ignore those that you do not know.

**Errors** are \`{ defined, code, status, message, data? }\`; \`defined\` is true for the codes that the operation declares here. A body over 1 MiB (413) and an internal failure (500) are \`{ error, requestId }\`.

**Tenants.** A row of an organization that you are not a member of is 403; one that does not exist is 404.

**Lists** of documents, jobs and audit entries are newest first; \`documents.list\` takes a \`sort\`. Pass \`nextCursor\` unchanged as \`cursor\` to read on; null means that there is no more.

**Limits.** Requests are counted for each address, for IPv6 each /64 network: 300 a minute unless the deployment sets another limit. \`RateLimit-Policy\` has the limit and \`RateLimit\` what is left; 429 comes with \`Retry-After\`. An API key has a limit of its own, and does not count for its address.

**Doing things once.** Operations that take an \`Idempotency-Key\` do their work once for each key; a repeated request gets the first response again.

**Uploads** go straight to storage: \`documents.createUpload\` returns a signed URL, the bytes are PUT there without a session, \`documents.complete\` ends the upload.

The same operations can be called by name at \`POST /rpc/<group>/<name>\` with the client of oRPC.`,
};

/** One tag for each group of operations. */
export const tags = [
  { name: 'system', description: 'Version, ways to sign in, and feature flags.' },
  { name: 'contact', description: 'Messages to the operator of the deployment.' },
  { name: 'account', description: 'The signed-in user.' },
  { name: 'organizations', description: 'What an organization uses, and what was done in it.' },
  { name: 'billing', description: 'The plan of an organization and the subscription behind it.' },
  { name: 'workspaces', description: 'The places of an organization that documents live in.' },
  { name: 'documents', description: 'Uploading, reading, searching and deleting documents.' },
  { name: 'jobs', description: 'Work that outlives a request: reading, summarizing, embedding and indexing.' },
  { name: 'webhooks', description: 'Addresses that are told of events, and what was sent to them.' },
  { name: 'apiKeys', description: 'Keys of an organization, with which its programs call.' },
  { name: 'admin', description: 'The audit log of the whole deployment, for platform admins.' },
  { name: 'admin.organizations', description: 'Every organization of the deployment, for platform admins.' },
  { name: 'admin.flags', description: 'Feature flags and their overrides, for platform admins.' },
  { name: 'admin.system', description: 'How the parts of the deployment are, for platform admins.' },
  { name: 'admin.mails', description: 'What a deployment without a mail server keeps instead of sending it, for platform admins.' },
];

export function securitySchemes(cookieName: string) {
  return {
    bearer: { type: 'http', scheme: 'bearer', description: 'The value of the `set-auth-token` header in the response to signing in.' },
    apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'sheaf_…', description: 'The secret of an API key of the organization.' },
    cookie: { type: 'apiKey', in: 'cookie', name: cookieName, description: 'The session cookie that signing in sets in a browser.' },
  };
}

/** The headers of every response below `/api/v1`. */
export const commonHeaders = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
};

export const headers = {
  RequestId: {
    description: 'The id of this request: your own `X-Request-Id` if it is well-formed, otherwise a new one.',
    schema: { type: 'string', examples: ['0b8f6a4e-4a43-4a0e-9f5b-1d7b1f0c2a3d'] },
  },
  RateLimit: {
    description: 'What is left of a limit (`r`), and the seconds until its window ends (`t`).',
    schema: { type: 'string', examples: ['"requests";r=299;t=60'] },
  },
  RateLimitPolicy: {
    description: 'The limit (`q`) and the length of its window in seconds (`w`).',
    schema: { type: 'string', examples: ['"requests";q=300;w=60'] },
  },
  LastEventId: {
    description:
      'Where a stream that was asked for without `Last-Event-Id` begins: send it when you reconnect before the first event, and nothing is missed.',
    schema: { type: 'string', examples: ['bW5ha2s0Lg.q83vEjRWeJCrze8SNFZ4kA'] },
  },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1, examples: [12] } },
};

/** Request headers that some operations accept. */
export const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Any text of your own, at best a UUID. A second request with the same key does nothing and returns what the first one returned; with another input it is BAD_REQUEST.',
    schema: { type: 'string', minLength: 1, maxLength: 200, examples: ['6c1d9b0e-8d53-4f0b-a8a6-2f4c7f7f1e55'] },
  },
  LastEventId: {
    name: 'Last-Event-Id',
    in: 'header',
    description:
      'The `id` of the last event that you got; the stream goes on after it. Any value that no stream of this organization issued is refused with BAD_REQUEST, before the stream opens.',
    // No bounds: which values are valid, only the service can tell.
    schema: { type: 'string', examples: ['bW5ha2s0LjAxOThkMmM0.q83vEjRWeJCrze8SNFZ4kA'] },
  },
  StreamId: {
    name: 'Stream-Id',
    in: 'header',
    description:
      'An id of your own for this stream, at best a UUID: send the same whenever you reconnect. Your earlier connection then ends and counts no more, also if the service has not noticed yet that it broke. One that is not 1 to 128 letters, digits, `.`, `_` and `-` is ignored.',
    schema: { type: 'string', examples: ['0b8f6a4e-4a43-4a0e-9f5b-1d7b1f0c2a3d'] },
  },
};
