import { z } from 'zod';
import { anyText, dateTime, email, flagKey, id, multiLine, singleLine } from './fields.ts';
import { route } from './route.ts';

const socialProvider = z.enum(['provider_a', 'provider_b']).meta({ id: 'SocialProvider' });
export type SocialProvider = z.infer<typeof socialProvider>;

const health = z
  .object({ status: z.literal('ok'), version: z.string().meta({ examples: ['0.3.0'] }), time: dateTime })
  .meta({ id: 'Health' });

export const authConfig = z
  .object({ socialProviders: z.array(socialProvider), requireEmailVerification: z.boolean() })
  .meta({ id: 'AuthConfig' });

const resolvedFlags = z
  .record(flagKey, z.boolean())
  .meta({ id: 'ResolvedFlags', description: 'Each flag, resolved for the organization.', examples: [{ 'search.rerank': true }] });

export const system = {
  health: route({
    operation: 'system.health',
    method: 'GET',
    path: '/health',
    access: 'public',
    summary: 'Service version and time',
    description: 'Answers while the process serves requests. For probes of an orchestrator use `/healthz` and `/readyz`.',
    response: health,
  }),
  authConfig: route({
    operation: 'system.authConfig',
    method: 'GET',
    path: '/auth-config',
    access: 'public',
    summary: 'Ways to sign in',
    description: 'The OpenID Connect providers that are configured, and whether an email address must be verified before signing in.',
    response: authConfig,
  }),
  flags: route({
    operation: 'system.flags',
    method: 'GET',
    path: '/flags',
    access: 'signed-in',
    summary: 'Feature flags',
    description: 'Every feature flag, resolved for the organization when one is given (you must be its member), else the global defaults.',
    query: z.object({ organizationId: id.optional().describe('The organization that the flags are resolved for.') }),
    response: resolvedFlags,
  }),
};

export const contact = {
  send: route({
    operation: 'contact.send',
    method: 'POST',
    path: '/contact',
    access: 'public',
    summary: 'Send a message to the operator',
    description:
      'Mails the message to the address that the deployment has configured, with the sender as its reply-to. Limited to five messages an hour for each IP address. `website` is for machines: people leave it empty.',
    errors: ['PRECONDITION_FAILED'],
    body: z
      .object({
        email,
        name: singleLine({ max: 120 })
          .optional()
          .meta({ examples: ['Ada Lovelace'] }),
        message: multiLine({ min: 10, max: 2000 }).meta({ examples: ['How do I raise my storage quota?'] }),
        website: anyText({ max: 200 })
          .optional()
          .describe('A trap for machines: a message that fills it gets the same response as any other, and is dropped.')
          .meta({ examples: [''] }),
      })
      .meta({ id: 'ContactMessage' }),
    response: z.object({ ok: z.literal(true) }).meta({ id: 'ContactAccepted' }),
  }),
};

const userSchema = z
  .object({
    id,
    email: z.email().meta({ examples: ['ada@example.com'] }),
    name: z.string().meta({ examples: ['Ada Lovelace'] }),
    image: z
      .string()
      .nullable()
      .describe('The address of a picture.')
      .meta({ examples: [null] }),
    role: z
      .string()
      .nullable()
      .describe('`admin` marks a platform admin.')
      .meta({ examples: ['user'] }),
    createdAt: dateTime,
  })
  .meta({ id: 'User' });

export const account = {
  me: route({
    operation: 'account.me',
    method: 'GET',
    path: '/me',
    access: 'signed-in',
    summary: 'The signed-in user',
    description: 'The user behind the session or bearer token of this request.',
    response: userSchema,
  }),
};
