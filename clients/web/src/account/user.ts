import { queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { queryClient, sessionQuery } from '../queries.ts';
import { ask, auth } from '../service.ts';

const route = getRouteApi('/o/$organization/$workspace/account');

export function useUser() {
  return route.useRouteContext().user;
}

/** Reads the user again, also for the frame of the page. */
export function useReadUserAgain(): () => Promise<void> {
  const router = useRouter();
  return async () => {
    await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await router.invalidate();
  };
}

/** The ways by which the user signs in: a password (`credential`), and providers. */
export const accountsQuery = queryOptions({ queryKey: ['accounts'], queryFn: () => ask(auth.listAccounts()) });

/** Whether the user has a password; undefined until that is known. */
export function useHasPassword(): boolean | undefined {
  const { data } = useQuery(accountsQuery);
  return data?.some(({ providerId }) => providerId === 'credential');
}
