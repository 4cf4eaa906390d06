# The entities of contoso.servicebus.windows.net, as commands of az.
# Set RESOURCE_GROUP and NAMESPACE to an existing Service Bus namespace.
az servicebus topic create -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" \
  -n audit --enable-duplicate-detection true \
  --duplicate-detection-history-time-window PT1M --enable-partitioning true \
  --auto-delete-on-idle P30D
az servicebus topic authorization-rule create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name audit \
  -n send-only --rights Send
az servicebus topic create -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" \
  -n events --enable-ordering false --enable-duplicate-detection true \
  --duplicate-detection-history-time-window PT1M --enable-partitioning true \
  --auto-delete-on-idle P30D
az servicebus topic authorization-rule create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events \
  -n send-only --rights Send
az servicebus queue create -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" \
  -n 1st --lock-duration PT30S --default-message-time-to-live P14D \
  --enable-dead-lettering-on-message-expiration true --max-size 2048
# forwardTo is left out, it closes a circle; set it to circle-a afterwards
az servicebus queue create -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" \
  -n circle-b --lock-duration PT30S --default-message-time-to-live P14D \
  --enable-dead-lettering-on-message-expiration true --max-size 2048
az servicebus queue create -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" \
  -n circle-a --lock-duration PT30S --default-message-time-to-live P14D \
  --enable-dead-lettering-on-message-expiration true --forward-to circle-b \
  --max-size 2048
# its user metadata is left out, templates do not have it: two lines ${x} 'quoted' "twice"
az servicebus queue create -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" \
  -n failed --lock-duration PT30S --default-message-time-to-live P14D \
  --enable-dead-lettering-on-message-expiration true --status SendDisabled \
  --max-size 2048
az servicebus queue create -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" \
  -n orders --lock-duration PT30S --default-message-time-to-live P14D \
  --enable-dead-lettering-on-message-expiration true \
  --forward-dead-lettered-messages-to failed --max-size 2048
# Azure will not create it as it is: The property value for 'MaxMessageSizeInKilobytes' must be between 256 and 256 (MaxMessageSizeInKilobytes: 1024)
az servicebus queue create -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" \
  -n 'sap~orders.in' --lock-duration PT30S --default-message-time-to-live P14D \
  --enable-dead-lettering-on-message-expiration true --forward-to orders \
  --enable-express true --max-size 2048 --max-message-size 1024
az servicebus queue create -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" \
  -n sap_orders-in --lock-duration PT30S --default-message-time-to-live P14D \
  --enable-dead-lettering-on-message-expiration true \
  --forward-to sap/orders.in --max-size 2048
az servicebus queue create -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" \
  -n sessions --lock-duration PT30S --default-message-time-to-live P14D \
  --enable-dead-lettering-on-message-expiration true --enable-session true \
  --max-size 2048
az servicebus queue authorization-rule create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --queue-name orders \
  -n Admin --rights Manage Send Listen
az servicebus queue authorization-rule create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --queue-name orders \
  -n shop --rights Send Listen
az servicebus topic subscription create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events \
  -n all --max-delivery-count 2000
# the target of forwardDeadLetteredMessagesTo, gone, is not among the exported entities and must exist
az servicebus topic subscription create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events -n eu \
  --max-delivery-count 2000 --forward-to sap/orders.in \
  --forward-dead-lettered-messages-to gone --status ReceiveDisabled
# the parameters are written into the expression
az servicebus topic subscription rule update \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events --subscription-name eu \
  -n '$Default' \
  --filter-sql-expression 'amount > (-100) AND [a@b] = '\''it'\'''\''s ${x}'\'' OR note = '\''@min'\''' \
  --action-sql-expression 'SET tier = 2.0'
# the rule has a value that can't be written down here, it is exported as one that takes nothing
az servicebus topic subscription rule create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events --subscription-name eu \
  -n dates --filter-sql-expression 1=0
az servicebus topic subscription rule create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events --subscription-name eu \
  -n Default --filter-type CorrelationFilter --correlation-id c \
  --label 'O'\''Neill' --correlation-filter-property 'a b=%{x}' region=eu
az servicebus topic subscription rule create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events --subscription-name eu \
  -n future --filter-sql-expression 1=0
# the correlation filter is exported as SQL, because its values are not all text
az servicebus topic subscription rule create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events --subscription-name eu \
  -n numbers \
  --filter-sql-expression 'sys.ReplyToSessionId = '\''r'\'' AND [n]]] = 5 AND [b] = TRUE AND [f] = 1E30'
az servicebus topic subscription create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events \
  -n 'mail$app$D' --max-delivery-count 2000 --is-client-affine true \
  --client-id app --is-durable true --is-shared true
az servicebus topic subscription rule update \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events --subscription-name 'mail$app$D' \
  -n '$Default' --filter-sql-expression 'size > 1 AND urgent = TRUE'
# it has no rules; it gets one that takes nothing, which is the same
az servicebus topic subscription create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events \
  -n none --max-delivery-count 2000
az servicebus topic subscription rule update \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events --subscription-name none \
  -n '$Default' --filter-sql-expression 1=0
az servicebus topic subscription create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events \
  -n 'post$$D' --max-delivery-count 2000 --is-client-affine true \
  --client-id '' --is-durable true
az servicebus topic subscription create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events \
  -n to-topic --max-delivery-count 2000 --forward-to events \
  --status SendDisabled
az servicebus topic subscription rule create \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events --subscription-name to-topic \
  -n off --filter-sql-expression 1=0
az servicebus topic subscription rule delete \
  -g "$RESOURCE_GROUP" --namespace-name "$NAMESPACE" --topic-name events --subscription-name to-topic \
  -n '$Default'
