import { getRouteApi, Outlet, useLocation } from '@tanstack/react-router';
import { pagesFor } from '../navigation.ts';
import { Lacks } from './lacks.tsx';
import { PageHead } from './page-head.tsx';

const route = getRouteApi('/o/$organization/$workspace');

/** A page for admins; for others what they lack to see it, and nothing is asked that would be refused. */
export default function ForAdmins() {
  const [, , , , name = ''] = useLocation().pathname.split('/');
  const place = route.useRouteContext();
  if (place.isAdmin) return <Outlet />;
  const page = pagesFor(place).organization.find(({ to }) => to.endsWith(`/${name}`));
  // The address may be that of the next page already.
  if (!page?.lacks) return null;
  return (
    <>
      <PageHead title={page.label} />
      <Lacks key={page.lacks} permission={page.lacks} />
    </>
  );
}
