import { getRouteApi, useLocation } from '@tanstack/react-router';
import { pagesFor } from '../navigation.ts';
import { slugsOf } from '../queries.ts';
import { t } from '../text.ts';
import { LinkTo } from './link-to.tsx';

const route = getRouteApi('/o/$organization/$workspace');

/** Where a page stands: what it belongs to, and the list that a single thing comes from, which leads back. */
export function Crumbs() {
  const place = route.useRouteContext();
  const [, , , , name = '', id] = useLocation().pathname.split('/');
  const { workspace, organization } = pagesFor(place);
  const isHere = ({ to }: { to: string }) => to.endsWith(`/${name}`);
  const page = [...workspace, ...organization].find(isHere);
  if (!page) return null;
  const owner = workspace.some(isHere) ? place.workspace : place.organization;
  return (
    <nav aria-label={t.nav.crumbs} className="crumbs">
      <span className="one-line">{owner.name}</span>
      <span aria-hidden>/</span>
      <span aria-current={id ? undefined : 'page'}>
        {id ? (
          <LinkTo to={page.to} params={slugsOf(place)} size="sm" aria-label={t.nav.all(page.label)}>
            {page.label}
          </LinkTo>
        ) : (
          page.label
        )}
      </span>
    </nav>
  );
}
