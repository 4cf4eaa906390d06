//! A program with azure_messaging_servicebus, the official client, which speaks HTTP.

use azure_messaging_servicebus::service_bus::{QueueClient, SendMessageOptions, SettableBrokerProperties, TopicClient};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const POLICY: &str = "RootManageSharedAccessKey";
const KEY: &str = "SAS_KEY_VALUE";

/// The settings of docs/frameworks.md. The client goes to https://NAME.servicebus.windows.net; this HTTP client finds Minibus there,
/// and OpenSSL trusts what SSL_CERT_FILE names.
fn http() -> anyhow::Result<Arc<reqwest::Client>> {
    let minibus: SocketAddr = std::env::var("MINIBUS_HTTPS")?.parse()?;
    Ok(Arc::new(reqwest::Client::builder().resolve("shop.servicebus.windows.net", minibus).build()?))
}

#[tokio::test]
async fn a_message_is_locked_renewed_unlocked_and_deleted() -> anyhow::Result<()> {
    let queue = QueueClient::new(http()?, "shop", "letters", POLICY, KEY.to_string())?;
    let options = SendMessageOptions {
        content_type: Some("text/plain".into()),
        broker_properties: Some(SettableBrokerProperties { message_id: Some("letter-1".into()), ..Default::default() }),
        custom_properties: Some([("shop".to_string(), "Leith".to_string())].into()),
    };
    queue.send_message("to Leith", Some(options)).await?;

    let first = queue.peek_lock_message2(Some(Duration::from_secs(20))).await?;
    assert_eq!(first.body(), "to Leith");
    let properties = first.broker_properties().expect("BrokerProperties");
    assert_eq!((properties.message_id.as_str(), properties.delivery_count), ("letter-1", 1));
    first.renew_message_lock().await?;
    first.unlock_message().await?;

    let second = queue.peek_lock_message2(Some(Duration::from_secs(20))).await?;
    assert_eq!(second.broker_properties().expect("BrokerProperties").delivery_count, 2);
    second.delete_message().await?;
    assert_eq!(u16::from(*queue.peek_lock_message2(Some(Duration::ZERO)).await?.status()), 204);
    Ok(())
}

#[tokio::test]
async fn a_message_goes_through_a_topic() -> anyhow::Result<()> {
    let topic = TopicClient::new(http()?, "shop", "bills", POLICY, KEY.to_string())?;
    topic.topic_sender().send_message("tea", None).await?;
    assert_eq!(topic.subscription_receiver("paid").receive_and_delete_message().await?, "tea");
    Ok(())
}
