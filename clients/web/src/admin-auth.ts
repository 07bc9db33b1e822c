import { createAuthClient } from 'better-auth/client';
import { adminClient } from 'better-auth/client/plugins';

/** What platform admins do with users: apart from `auth`, since nobody else loads it. */
export const adminAuth = createAuthClient({ baseURL: window.location.origin, plugins: [adminClient()] });
