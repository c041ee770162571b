// What waits for the one who is signed in, newest first, as it comes.
import { Recipient, title, useExplanation, useReading, Warnings } from '../../approval/request';
import { standing } from '../../approval/standing';
import { Vote } from '../../approval/vote';
import { book } from '../../book/book';
import { type View } from '../../client/models';
import { waiting } from '../../feed/feed';
import { address } from '../../router';
import { t } from '../../text';
import { Badge, Empty, Heading, Loading, Time } from '../../ui/parts';

export function Inbox() {
  const all = waiting.value;
  const mine = all?.filter((a) => a.canApprove) ?? [];
  const others = all?.filter((a) => !a.canApprove) ?? [];
  return (
    <main id="content">
      <Heading title={t.nav.inbox}>
        <span class="muted" role="status">{mine.length > 0 && t.inbox.count(mine.length)}</span>
      </Heading>
      {!all && <Loading />}
      {all && mine.length === 0 && <Empty title={t.inbox.empty}>{t.inbox.emptyMore}</Empty>}
      <ul class="stack">
        {mine.map((a) => <Request key={a.id} activity={a} />)}
      </ul>
      {others.length > 0 && (
        <section class="stack inbox-others">
          <div>
            <h2>{t.inbox.others}</h2>
            <p class="muted">{t.inbox.othersMore}</p>
          </div>
          <ul class="stack">
            {others.map((a) => <Request key={a.id} activity={a} />)}
          </ul>
        </section>
      )}
    </main>
  );
}

function Request({ activity }: { activity: View }) {
  const reading = useReading(activity);
  const explanation = useExplanation(activity, reading);
  if (!reading) return <li class="card" data-activity={activity.id}><Loading /></li>;
  const how = standing(activity, explanation, book.value);
  const submitter = activity.votes[0]?.user?.userName ?? '';
  return (
    <li class="card request appear" data-activity={activity.id}>
      <div>
        <div class="row between">
          <p class="muted"><bdi>{t.inbox.wants(submitter)}</bdi></p>
          {reading.network && <Badge>{reading.network}</Badge>}
        </div>
        <h2 class="request-title"><a href={address(`activities/${activity.id}`)}><bdi>{title(reading)}</bdi></a></h2>
      </div>
      <Recipient reading={reading} />
      <Warnings reading={reading} />
      <div class="votes">
        <span>{how.votes}</span>
        <span>{how.rules}</span>
        {how.limits.map((l) => <span key={l}>{l}</span>)}
        <Time at={activity.createdAt} />
        <a href={address(`activities/${activity.id}`)}>{t.inbox.details}</a>
      </div>
      <Vote activity={activity} reading={reading} />
    </li>
  );
}
