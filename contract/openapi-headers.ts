/** The headers that every answer below `/api/v1` carries. */
export const commonHeaders = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
};

export const headers = {
  RequestId: {
    description: 'The id of this request: your own `X-Request-Id` when it is well-formed, else a new one.',
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

/** Request headers that some operations take. */
export const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Any text of your own, at best a UUID. A second request with the same key does nothing anew and answers what the first one answered; with another input it is BAD_REQUEST.',
    schema: { type: 'string', minLength: 1, maxLength: 200, examples: ['6c1d9b0e-8d53-4f0b-a8a6-2f4c7f7f1e55'] },
  },
  LastEventId: {
    name: 'Last-Event-Id',
    in: 'header',
    description:
      'The `id` of the last event that you got; the stream goes on after it. Any value that this stream did not issue ends it with BAD_REQUEST.',
    // No bounds: the stream refuses a value when it is open, not the request when it comes.
    schema: { type: 'string', examples: ['bW5ha2s0LjAxOThkMmM0.q83vEjRWeJCrze8SNFZ4kA'] },
  },
};
