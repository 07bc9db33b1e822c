import { z } from 'zod';
import { contentType, contentTypes } from './content-types.ts';
import { anyText, dateTime, email, flagKey, givenId, id, multiLine, withExample } from './fields.ts';
import { jobKinds, usualJobKinds } from './jobs.ts';
import { plainLine } from './names.ts';
import { c, operation } from './route.ts';

const socialProvider = z.enum(['provider_a', 'provider_b']).meta({ id: 'SocialProvider' });
export type SocialProvider = z.infer<typeof socialProvider>;

const health = z
  .object({ status: z.literal('ok'), version: z.string().meta({ examples: ['0.3.0'] }), time: dateTime })
  .meta({ id: 'Health' });

const jobKindsOfDeployment = z
  .object({
    jobKinds: z.array(z.enum(jobKinds)).meta({ examples: [usualJobKinds] }),
    contentTypes: withExample(z.array(contentType).describe('The kinds of documents that may be uploaded.'), contentTypes),
  })
  .meta({ id: 'JobKinds' });

export const authConfig = z
  .object({ socialProviders: z.array(socialProvider), requireEmailVerification: z.boolean() })
  .meta({ id: 'AuthConfig' });

const resolvedFlags = z
  .record(flagKey, z.boolean())
  .meta({ id: 'ResolvedFlags', description: 'Each flag, resolved for the organization.', examples: [{ 'search.rerank': true }] });

export const system = c.router({
  health: {
    method: 'GET',
    path: '/health',
    summary: 'Service version and time',
    description: 'Answers while the process serves requests. For probes of an orchestrator use `/healthz` and `/readyz`.',
    ...operation('system.health', { access: 'public', response: health }),
  },
  authConfig: {
    method: 'GET',
    path: '/auth-config',
    summary: 'Ways to sign in',
    description: 'The OpenID Connect providers that are configured, and whether an email address must be verified before signing in.',
    ...operation('system.authConfig', { access: 'public', response: authConfig }),
  },
  flags: {
    method: 'GET',
    path: '/flags',
    summary: 'Feature flags',
    description: 'Every feature flag, resolved for the organization when one is given (you must be its member), else the global defaults.',
    query: z.object({ organizationId: givenId.optional().describe('The organization that the flags are resolved for.') }),
    ...operation('system.flags', { access: 'signed-in', response: resolvedFlags }),
  },
  jobKinds: {
    method: 'GET',
    path: '/job-kinds',
    summary: 'Kinds of jobs and of documents',
    description: 'The kinds of jobs and of documents that this deployment takes.',
    ...operation('system.jobKinds', { access: 'signed-in', response: jobKindsOfDeployment }),
  },
});

export const contact = c.router({
  send: {
    method: 'POST',
    path: '/contact',
    summary: 'Send a message to the operator',
    description:
      'Mails the message to the address that the deployment has configured, with the sender as its reply-to. Limited to five messages an hour for each IP address. `website` is for machines: people leave it empty.',
    body: z
      .object({
        email,
        name: withExample(plainLine({ max: 120 }).optional(), 'Ada Lovelace'),
        message: multiLine({ min: 10, max: 2000 }).meta({ examples: ['How do I raise my storage quota?'] }),
        website: anyText({ max: 200 })
          .optional()
          .describe('A trap for machines: a message that fills it gets the same response as any other, and is dropped.')
          .meta({ examples: [''] }),
      })
      .meta({ id: 'ContactMessage' }),
    ...operation('contact.send', {
      access: 'public',
      errors: ['PRECONDITION_FAILED'],
      response: z.object({ ok: z.literal(true) }).meta({ id: 'ContactAccepted' }),
    }),
  },
});

const userSchema = z
  .object({
    id,
    // Stored values were checked on input: a response is never refused for them.
    email: z.string().meta({ format: 'email', examples: ['ada@example.com'] }),
    name: z.string().meta({ examples: ['Ada Lovelace'] }),
    image: withExample(z.string().nullable().describe('The address of a picture.'), null),
    role: withExample(z.string().nullable().describe('`admin` marks a platform admin.'), 'user'),
    createdAt: dateTime,
  })
  .meta({ id: 'User' });

export const account = c.router({
  me: {
    method: 'GET',
    path: '/me',
    summary: 'The signed-in user',
    description: 'The user behind the session or bearer token of this request.',
    ...operation('account.me', { access: 'signed-in', response: userSchema }),
  },
});
