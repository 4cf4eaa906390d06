# The entities of contoso.servicebus.windows.net, written by minibus export.
# Azure makes each subscription with the rule $Default, which takes everything. Let the provider (4.81 or later)
# delete it. Otherwise, the subscriptions get more messages than those that they are copied from:
#   provider "azurerm" {
#     features {
#       servicebus { auto_delete_subscription_default_rule = true }
#     }
#   }
terraform {
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = "~> 4.0"
    }
  }
}

variable "namespace_id" {
  type        = string
  description = "Resource id of an existing Service Bus namespace."
}

resource "azurerm_servicebus_topic" "audit" {
  name                                    = "audit"
  namespace_id                            = var.namespace_id
  default_message_ttl                     = "P10675199DT2H48M5.4775807S"
  support_ordering                        = true
  batched_operations_enabled              = true
  auto_delete_on_idle                     = "P30D"
  requires_duplicate_detection            = true
  duplicate_detection_history_time_window = "PT1M"
  partitioning_enabled                    = true
  max_size_in_megabytes                   = 1024
}

resource "azurerm_servicebus_topic_authorization_rule" "audit_send_only" {
  name     = "send-only"
  topic_id = azurerm_servicebus_topic.audit.id
  listen   = false
  send     = true
  manage   = false
}

resource "azurerm_servicebus_topic" "events" {
  name                                    = "events"
  namespace_id                            = var.namespace_id
  default_message_ttl                     = "P10675199DT2H48M5.4775807S"
  support_ordering                        = false
  batched_operations_enabled              = true
  auto_delete_on_idle                     = "P30D"
  requires_duplicate_detection            = true
  duplicate_detection_history_time_window = "PT1M"
  partitioning_enabled                    = true
  max_size_in_megabytes                   = 1024
}

resource "azurerm_servicebus_topic_authorization_rule" "events_send_only" {
  name     = "send-only"
  topic_id = azurerm_servicebus_topic.events.id
  listen   = false
  send     = true
  manage   = false
}

resource "azurerm_servicebus_queue" "_1st" {
  name                                 = "1st"
  namespace_id                         = var.namespace_id
  lock_duration                        = "PT30S"
  max_delivery_count                   = 10
  default_message_ttl                  = "P14D"
  dead_lettering_on_message_expiration = true
  requires_session                     = false
  batched_operations_enabled           = true
  requires_duplicate_detection         = false
  partitioning_enabled                 = false
  max_size_in_megabytes                = 2048
}

# forwardTo is left out, it closes a circle; set it to circle-a afterwards
resource "azurerm_servicebus_queue" "circle_b" {
  name                                 = "circle-b"
  namespace_id                         = var.namespace_id
  lock_duration                        = "PT30S"
  max_delivery_count                   = 10
  default_message_ttl                  = "P14D"
  dead_lettering_on_message_expiration = true
  requires_session                     = false
  batched_operations_enabled           = true
  requires_duplicate_detection         = false
  partitioning_enabled                 = false
  max_size_in_megabytes                = 2048
}

resource "azurerm_servicebus_queue" "circle_a" {
  name                                 = "circle-a"
  namespace_id                         = var.namespace_id
  lock_duration                        = "PT30S"
  max_delivery_count                   = 10
  default_message_ttl                  = "P14D"
  dead_lettering_on_message_expiration = true
  requires_session                     = false
  batched_operations_enabled           = true
  requires_duplicate_detection         = false
  partitioning_enabled                 = false
  max_size_in_megabytes                = 2048
  forward_to                           = azurerm_servicebus_queue.circle_b.name
}

# its user metadata is left out, templates do not have it: two lines ${x} 'quoted' "twice"
resource "azurerm_servicebus_queue" "failed" {
  name                                 = "failed"
  namespace_id                         = var.namespace_id
  lock_duration                        = "PT30S"
  max_delivery_count                   = 10
  default_message_ttl                  = "P14D"
  dead_lettering_on_message_expiration = true
  requires_session                     = false
  batched_operations_enabled           = true
  requires_duplicate_detection         = false
  partitioning_enabled                 = false
  max_size_in_megabytes                = 2048
  status                               = "SendDisabled"
}

resource "azurerm_servicebus_queue" "orders" {
  name                                 = "orders"
  namespace_id                         = var.namespace_id
  lock_duration                        = "PT30S"
  max_delivery_count                   = 10
  default_message_ttl                  = "P14D"
  dead_lettering_on_message_expiration = true
  requires_session                     = false
  batched_operations_enabled           = true
  requires_duplicate_detection         = false
  partitioning_enabled                 = false
  max_size_in_megabytes                = 2048
  forward_dead_lettered_messages_to    = azurerm_servicebus_queue.failed.name
}

# Azure will not create it as it is: The property value for 'MaxMessageSizeInKilobytes' must be between 256 and 256 (MaxMessageSizeInKilobytes: 1024)
resource "azurerm_servicebus_queue" "sap_orders_in" {
  name                                 = "sap~orders.in"
  namespace_id                         = var.namespace_id
  lock_duration                        = "PT30S"
  max_delivery_count                   = 10
  default_message_ttl                  = "P14D"
  dead_lettering_on_message_expiration = true
  requires_session                     = false
  batched_operations_enabled           = true
  requires_duplicate_detection         = false
  partitioning_enabled                 = false
  express_enabled                      = true
  max_size_in_megabytes                = 2048
  max_message_size_in_kilobytes        = 1024
  forward_to                           = azurerm_servicebus_queue.orders.name
}

resource "azurerm_servicebus_queue" "sap_orders_in_2" {
  name                                 = "sap_orders-in"
  namespace_id                         = var.namespace_id
  lock_duration                        = "PT30S"
  max_delivery_count                   = 10
  default_message_ttl                  = "P14D"
  dead_lettering_on_message_expiration = true
  requires_session                     = false
  batched_operations_enabled           = true
  requires_duplicate_detection         = false
  partitioning_enabled                 = false
  max_size_in_megabytes                = 2048
  forward_to                           = "sap/orders.in"
  depends_on                           = [azurerm_servicebus_queue.sap_orders_in]
}

resource "azurerm_servicebus_queue" "sessions" {
  name                                 = "sessions"
  namespace_id                         = var.namespace_id
  lock_duration                        = "PT30S"
  max_delivery_count                   = 10
  default_message_ttl                  = "P14D"
  dead_lettering_on_message_expiration = true
  requires_session                     = true
  batched_operations_enabled           = true
  requires_duplicate_detection         = false
  partitioning_enabled                 = false
  max_size_in_megabytes                = 2048
}

resource "azurerm_servicebus_queue_authorization_rule" "orders_Admin" {
  name     = "Admin"
  queue_id = azurerm_servicebus_queue.orders.id
  listen   = true
  send     = true
  manage   = true
}

resource "azurerm_servicebus_queue_authorization_rule" "orders_shop" {
  name     = "shop"
  queue_id = azurerm_servicebus_queue.orders.id
  listen   = true
  send     = true
  manage   = false
}

resource "azurerm_servicebus_subscription" "events_all" {
  name                                      = "all"
  topic_id                                  = azurerm_servicebus_topic.events.id
  lock_duration                             = "PT1M"
  max_delivery_count                        = 2000
  default_message_ttl                       = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration      = false
  requires_session                          = false
  batched_operations_enabled                = true
  dead_lettering_on_filter_evaluation_error = true
}

# the rule is named Default here: Terraform can't create $Default
resource "azurerm_servicebus_subscription_rule" "events_all_Default" {
  name            = "Default"
  subscription_id = azurerm_servicebus_subscription.events_all.id
  filter_type     = "SqlFilter"
  sql_filter      = "1=1"
}

# the target of forwardDeadLetteredMessagesTo, gone, is not among the exported entities and must exist
resource "azurerm_servicebus_subscription" "events_eu" {
  name                                      = "eu"
  topic_id                                  = azurerm_servicebus_topic.events.id
  lock_duration                             = "PT1M"
  max_delivery_count                        = 2000
  default_message_ttl                       = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration      = false
  requires_session                          = false
  batched_operations_enabled                = true
  dead_lettering_on_filter_evaluation_error = true
  status                                    = "ReceiveDisabled"
  forward_to                                = "sap/orders.in"
  forward_dead_lettered_messages_to         = "gone"
  depends_on                                = [azurerm_servicebus_queue.sap_orders_in]
}

# the parameters are written into the expression
# the rule is named Default_ here: Terraform can't create $Default
resource "azurerm_servicebus_subscription_rule" "events_eu_Default" {
  name            = "Default_"
  subscription_id = azurerm_servicebus_subscription.events_eu.id
  filter_type     = "SqlFilter"
  sql_filter      = "amount > (-100) AND [a@b] = 'it''s $${x}' OR note = '@min'"
  action          = "SET tier = 2.0"
}

# the rule has a value that can't be written down here, it is exported as one that takes nothing
resource "azurerm_servicebus_subscription_rule" "events_eu_dates" {
  name            = "dates"
  subscription_id = azurerm_servicebus_subscription.events_eu.id
  filter_type     = "SqlFilter"
  sql_filter      = "1=0"
}

resource "azurerm_servicebus_subscription_rule" "events_eu_Default_2" {
  name            = "Default"
  subscription_id = azurerm_servicebus_subscription.events_eu.id
  filter_type     = "CorrelationFilter"

  correlation_filter {
    correlation_id = "c"
    label          = "O'Neill"

    properties = {
      "a b"    = "%%{x}"
      "region" = "eu"
    }
  }
}

resource "azurerm_servicebus_subscription_rule" "events_eu_future" {
  name            = "future"
  subscription_id = azurerm_servicebus_subscription.events_eu.id
  filter_type     = "SqlFilter"
  sql_filter      = "1=0"
}

# the correlation filter is exported as SQL, because its values are not all text
resource "azurerm_servicebus_subscription_rule" "events_eu_numbers" {
  name            = "numbers"
  subscription_id = azurerm_servicebus_subscription.events_eu.id
  filter_type     = "SqlFilter"
  sql_filter      = "sys.ReplyToSessionId = 'r' AND [n]]] = 5 AND [b] = TRUE AND [f] = 1E30"
}

resource "azurerm_servicebus_subscription" "events_mail_app_D" {
  name                                      = "mail"
  topic_id                                  = azurerm_servicebus_topic.events.id
  client_scoped_subscription_enabled        = true
  lock_duration                             = "PT1M"
  max_delivery_count                        = 2000
  default_message_ttl                       = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration      = false
  requires_session                          = false
  batched_operations_enabled                = true
  dead_lettering_on_filter_evaluation_error = true

  client_scoped_subscription {
    client_id                               = "app"
    is_client_scoped_subscription_shareable = true
  }
}

# the rule is named Default here: Terraform can't create $Default
resource "azurerm_servicebus_subscription_rule" "events_mail_app_D_Default" {
  name            = "Default"
  subscription_id = azurerm_servicebus_subscription.events_mail_app_D.id
  filter_type     = "SqlFilter"
  sql_filter      = "size > 1 AND urgent = TRUE"
}

# it has no rules; it gets one that takes nothing, which is the same
resource "azurerm_servicebus_subscription" "events_none" {
  name                                      = "none"
  topic_id                                  = azurerm_servicebus_topic.events.id
  lock_duration                             = "PT1M"
  max_delivery_count                        = 2000
  default_message_ttl                       = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration      = false
  requires_session                          = false
  batched_operations_enabled                = true
  dead_lettering_on_filter_evaluation_error = true
}

# the rule is named Default here: Terraform can't create $Default
resource "azurerm_servicebus_subscription_rule" "events_none_Default" {
  name            = "Default"
  subscription_id = azurerm_servicebus_subscription.events_none.id
  filter_type     = "SqlFilter"
  sql_filter      = "1=0"
}

resource "azurerm_servicebus_subscription" "events_post__D" {
  name                                      = "post"
  topic_id                                  = azurerm_servicebus_topic.events.id
  client_scoped_subscription_enabled        = true
  lock_duration                             = "PT1M"
  max_delivery_count                        = 2000
  default_message_ttl                       = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration      = false
  requires_session                          = false
  batched_operations_enabled                = true
  dead_lettering_on_filter_evaluation_error = true

  client_scoped_subscription {
    client_id                               = ""
    is_client_scoped_subscription_shareable = false
  }
}

# the rule is named Default here: Terraform can't create $Default
resource "azurerm_servicebus_subscription_rule" "events_post__D_Default" {
  name            = "Default"
  subscription_id = azurerm_servicebus_subscription.events_post__D.id
  filter_type     = "SqlFilter"
  sql_filter      = "1=1"
}

# its status, SendDisabled, is left out: the provider does not take it
resource "azurerm_servicebus_subscription" "events_to_topic" {
  name                                      = "to-topic"
  topic_id                                  = azurerm_servicebus_topic.events.id
  lock_duration                             = "PT1M"
  max_delivery_count                        = 2000
  default_message_ttl                       = "P10675199DT2H48M5.4775807S"
  dead_lettering_on_message_expiration      = false
  requires_session                          = false
  batched_operations_enabled                = true
  dead_lettering_on_filter_evaluation_error = true
  forward_to                                = azurerm_servicebus_topic.events.name
}

resource "azurerm_servicebus_subscription_rule" "events_to_topic_off" {
  name            = "off"
  subscription_id = azurerm_servicebus_subscription.events_to_topic.id
  filter_type     = "SqlFilter"
  sql_filter      = "1=0"
}
