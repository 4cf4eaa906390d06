# A namespace as a team has it, on all three levels. The provider's settings come from the environment.
terraform {
  required_providers {
    azurerm = { source = "hashicorp/azurerm" }
  }
}

provider "azurerm" {
  features {}
}

variable "team" { default = "a" }
variable "deliveries" { default = 5 }

resource "azurerm_resource_group" "shop" {
  name     = "tf-standard"
  location = "westeurope"
}

resource "azurerm_servicebus_namespace" "shop" {
  name                = "tf-standard-ns"
  location            = azurerm_resource_group.shop.location
  resource_group_name = azurerm_resource_group.shop.name
  sku                 = "Standard"
  tags                = { team = var.team }
}

resource "azurerm_servicebus_queue" "orders" {
  name                                 = "orders"
  namespace_id                         = azurerm_servicebus_namespace.shop.id
  lock_duration                        = "PT30S"
  dead_lettering_on_message_expiration = true
  default_message_ttl                  = "P14D"
}

resource "azurerm_servicebus_topic" "events" {
  name                 = "events"
  namespace_id         = azurerm_servicebus_namespace.shop.id
  partitioning_enabled = true
}

resource "azurerm_servicebus_subscription" "audit" {
  name               = "audit"
  topic_id           = azurerm_servicebus_topic.events.id
  max_delivery_count = var.deliveries
  forward_to         = azurerm_servicebus_queue.orders.name
}

resource "azurerm_servicebus_subscription_rule" "big" {
  name            = "big"
  subscription_id = azurerm_servicebus_subscription.audit.id
  filter_type     = "SqlFilter"
  sql_filter      = "amount > 1000"
  action          = "SET priority = 'high'"
}

resource "azurerm_servicebus_subscription_rule" "red" {
  name            = "red"
  subscription_id = azurerm_servicebus_subscription.audit.id
  filter_type     = "CorrelationFilter"
  correlation_filter {
    label      = "red"
    properties = { size = "5" }
  }
}

resource "azurerm_servicebus_namespace_authorization_rule" "app" {
  name         = "app"
  namespace_id = azurerm_servicebus_namespace.shop.id
  listen       = true
  send         = true
}

resource "azurerm_servicebus_queue_authorization_rule" "app" {
  name     = "app"
  queue_id = azurerm_servicebus_queue.orders.id
  send     = true
}

resource "azurerm_servicebus_topic_authorization_rule" "app" {
  name     = "app"
  topic_id = azurerm_servicebus_topic.events.id
  listen   = true
  send     = true
  manage   = true
}

data "azurerm_servicebus_namespace" "shop" {
  name                = azurerm_servicebus_namespace.shop.name
  resource_group_name = azurerm_resource_group.shop.name
}

output "connection" {
  value     = data.azurerm_servicebus_namespace.shop.default_primary_connection_string
  sensitive = true
}

output "send" {
  value     = azurerm_servicebus_queue_authorization_rule.app.primary_connection_string
  sensitive = true
}
