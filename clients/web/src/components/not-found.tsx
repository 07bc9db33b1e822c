import { t } from '../text.ts';
import { CardPage } from './card-page.tsx';
import { LinkTo } from './link-to.tsx';

export function NotFound() {
  return (
    <CardPage title={t.common.notFound}>
      <LinkTo to="/">{t.common.home}</LinkTo>
    </CardPage>
  );
}
