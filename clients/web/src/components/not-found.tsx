import { t } from '../text.ts';
import { CardPage } from './card-page.tsx';
import { LinkTo } from './link-to.tsx';

/** There is nothing at the address, or its organization is not one of the user's: then `data` is the slug of it. */
export function NotFound({ data }: { data?: unknown }) {
  return (
    <CardPage title={typeof data === 'string' ? t.nav.notMember(data) : t.common.notFound}>
      <LinkTo to="/">{t.common.home}</LinkTo>
    </CardPage>
  );
}
