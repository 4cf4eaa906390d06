//! A program with azservicebus, the AMQP client of the community.

use azservicebus::administration::SqlRuleFilter;
use azservicebus::receiver::DeadLetterOptions;
use azservicebus::{ServiceBusClient, ServiceBusClientOptions, ServiceBusMessage, ServiceBusReceiverOptions, SubQueue};
use std::time::Duration;

const WAIT: Duration = Duration::from_secs(20);

type Client = ServiceBusClient<azservicebus::core::BasicRetryPolicy>;

/// The setting of docs/frameworks.md: the port is 5671, and OpenSSL trusts what SSL_CERT_FILE names.
async fn connect() -> anyhow::Result<Client> {
    let connection_string = std::env::var("SERVICE_BUS_CONNECTION_STRING")?;
    Ok(ServiceBusClient::new_from_connection_string(connection_string, ServiceBusClientOptions::default()).await?)
}

#[tokio::test]
async fn a_message_is_abandoned_and_comes_again_and_becomes_a_dead_letter() -> anyhow::Result<()> {
    let mut client = connect().await?;
    let mut sender = client.create_sender("parcels", Default::default()).await?;
    let mut message = ServiceBusMessage::new("to Leith");
    message.set_message_id("parcel-1")?;
    message.set_subject(String::from("groceries"));
    sender.send_message(message).await?;

    let mut receiver = client.create_receiver_for_queue("parcels", Default::default()).await?;
    let first = receiver.receive_message_with_max_wait_time(WAIT).await?.expect("a message");
    assert_eq!(first.body()?, b"to Leith");
    assert_eq!(first.message_id().as_deref(), Some("parcel-1"));
    assert_eq!(first.subject(), Some("groceries"));
    receiver.abandon_message(&first, None).await?;

    let second = receiver.receive_message_with_max_wait_time(WAIT).await?.expect("the message again");
    assert_eq!(second.sequence_number(), first.sequence_number());
    let options = DeadLetterOptions { dead_letter_reason: Some("torn".into()), ..Default::default() };
    receiver.dead_letter_message(&second, options).await?;

    let options = ServiceBusReceiverOptions { sub_queue: SubQueue::DeadLetter, ..Default::default() };
    let mut undeliverable = client.create_receiver_for_queue("parcels", options).await?;
    let dead = undeliverable.receive_message_with_max_wait_time(WAIT).await?.expect("a dead letter");
    assert_eq!(dead.dead_letter_reason(), Some("torn"));
    undeliverable.complete_message(&dead).await?;
    client.dispose().await?;
    Ok(())
}

#[tokio::test]
async fn a_session_keeps_its_state_and_its_order() -> anyhow::Result<()> {
    let mut client = connect().await?;
    let mut sender = client.create_sender("tours", Default::default()).await?;
    for stop in ["stop 0", "stop 1", "stop 2"] {
        let mut message = ServiceBusMessage::new(stop);
        message.set_session_id(String::from("monday"))?;
        sender.send_message(message).await?;
    }
    let mut session = client.accept_next_session_for_queue("tours", Default::default()).await?;
    assert_eq!(session.session_id(), "monday");
    session.set_session_state(vec![1, 2]).await?;
    assert_eq!(session.session_state().await?, vec![1, 2]);
    session.renew_session_lock().await?;
    for stop in ["stop 0", "stop 1", "stop 2"] {
        let message = session.receive_message_with_max_wait_time(WAIT).await?.expect("a message");
        assert_eq!(message.body()?, stop.as_bytes());
        session.complete_message(&message).await?;
    }
    client.dispose().await?;
    Ok(())
}

#[tokio::test]
async fn a_subscription_with_a_rule_gets_what_it_asks_for() -> anyhow::Result<()> {
    let mut client = connect().await?;
    let mut rules = client.create_rule_manager("orders", "billing").await?;
    rules.delete_rule("$Default").await?;
    rules.create_rule("dear", SqlRuleFilter::new("sys.Label = 'dear'")).await?;
    rules.dispose().await?;

    let mut sender = client.create_sender("orders", Default::default()).await?;
    for subject in ["cheap", "dear"] {
        let mut message = ServiceBusMessage::new(subject);
        message.set_subject(String::from(subject));
        sender.send_message(message).await?;
    }
    let mut billing = client.create_receiver_for_subscription("orders", "billing", Default::default()).await?;
    let message = billing.receive_message_with_max_wait_time(WAIT).await?.expect("a message");
    assert_eq!(message.body()?, b"dear");
    billing.complete_message(&message).await?;
    client.dispose().await?;
    Ok(())
}
