import { t } from '../text.ts';
import { CardPage } from './card-page.tsx';
import { LinkTo } from './link-to.tsx';
import { PageHead } from './page-head.tsx';

/** There is nothing at the address, or its organization is not one of the user's: then `data` is the slug of it. */
export function NotFound({ data }: { data?: unknown }) {
  return (
    <CardPage title={typeof data === 'string' ? t.nav.notMember(data) : t.common.notFound}>
      <LinkTo to="/">{t.common.home}</LinkTo>
    </CardPage>
  );
}

/** There is nothing at the address, said within the frame of the pages beside it. */
export function NothingHere() {
  return (
    <>
      <PageHead title={t.common.notFound} />
      <LinkTo to="/">{t.common.home}</LinkTo>
    </>
  );
}
